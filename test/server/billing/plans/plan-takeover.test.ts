import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { runs } from '../../../../db/schema/fleet.ts'
import { settleCheckout } from '../../../../src/server/billing/plans/checkout.ts'
import { grantPlan } from '../../../../src/server/billing/plans/grants.ts'
import { syncPlan } from '../../../../src/server/billing/plans/plan-sync.ts'
import type { Context } from '../../../../src/server/runtime/context.ts'
import { openPlanOwner } from '../../../../testing/people/plan-owner.ts'

/** A paid plan that meets a granted one, or a trial. */

const HOUR = 3_600_000
const DAY = 24 * HOUR

const { stack, owner, listPlans, open, pay, buy, soldId, cancel, ranOn, listBills, says } = await openPlanOwner(
  Date.UTC(2028, 0, 10, 9) + 700,
)
const shown = async () => (await listPlans()).map((p) => [p.planType, p.status, p.endedAt === null])

/** A plan that ended a day ago. `late` asks about it, and gets the answer from before its end. */
async function endedEarlier(): Promise<{ id: string; late: Context }> {
  const { stripeId: id } = await buy('basic')
  const old = await stack.ctx.payments.findSubscription(id)
  const askedThen = stack.clock.now
  stack.clock.now += DAY
  await stack.ctx.payments.cancelNow(id)
  await syncPlan(stack.ctx, id)
  stack.clock.now += DAY
  return { id, late: { ...says(old), now: () => askedThen } }
}

test.each([
  ['in the same second', 0, 'basic'],
  ['hours later, by support', 2 * HOUR, 'enterprise'],
  ['a trial in the same second', 0, 'demo'],
] as const)('granted %s: the paid one counts once, from its own start', async (_, later, granted) => {
  await pay('basic')
  const paidAt = Math.floor(stack.clock.now / 1000) * 1000
  stack.clock.now += later
  await grantPlan(stack.ctx, owner().email, { type: granted, hours: 100 })
  stack.clock.now += HOUR
  await settleCheckout(stack.ctx, owner().id)
  expect((await shown()).map(([type, , stands]) => [type, stands])).toEqual([
    [granted, false],
    ['basic', true],
  ])
  await ranOn(paidAt + DAY, 7)
  await stack.passTime(paidAt + 32 * DAY, DAY)
  expect(await listBills()).toEqual([['basic', 5, 350]])
  await expect(open('premium')).rejects.toMatchObject({ code: 'invalid' })
})

test('granted twice while the webhook is late: neither grant splits a period of the paid plan', async () => {
  await pay('basic')
  const paidAt = Math.floor(stack.clock.now / 1000) * 1000
  for (const type of ['premium', 'enterprise'] as const) {
    stack.clock.now += HOUR
    await grantPlan(stack.ctx, owner().email, { type, hours: 30 })
  }
  stack.clock.now += HOUR
  await settleCheckout(stack.ctx, owner().id)
  await ranOn(paidAt + DAY, 7)
  await stack.passTime(paidAt + 32 * DAY, DAY)
  expect(await listBills()).toEqual([['basic', 5, 350]])
})

test('a grant beside a paid plan that was over when we heard of it keeps its time, whatever we hear later', async () => {
  await pay('basic')
  const id = await soldId()
  stack.clock.now += HOUR
  await grantPlan(stack.ctx, owner().email, { type: 'enterprise', hours: 100 })
  stack.clock.now += HOUR
  await stack.ctx.payments.cancelNow(id)
  await syncPlan(stack.ctx, id)
  stack.clock.now += HOUR
  await grantPlan(stack.ctx, owner().email, { type: 'premium', hours: 30 })
  await syncPlan(stack.ctx, id)
  const granted = (await listPlans()).filter((plan) => plan.stripeSubscriptionId === null)
  expect(granted.map(({ anchor, endedAt }) => endedAt && endedAt - anchor)).toEqual([2 * HOUR, null])
})

test('a plan that was granted and replaced after a paid one had ended keeps its time', async () => {
  const { id } = await endedEarlier()
  for (const type of ['premium', 'enterprise'] as const) {
    await grantPlan(stack.ctx, owner().email, { type, hours: 30 })
    stack.clock.now += HOUR
  }
  await syncPlan(stack.ctx, id)
  const granted = (await listPlans()).filter((plan) => plan.stripeSubscriptionId === null)
  expect(granted.map(({ anchor, endedAt }) => endedAt && endedAt - anchor)).toEqual([HOUR, null])
})

test.each([
  ['a granted plan', true],
  ['the trial', false],
])('canceled beside %s while the webhook is late: the paid plan does not renew', async (_, granted) => {
  await stack.insertPlan(owner().id, { planType: 'demo', subType: 'demo', status: 'trialing', hours: 0.5 })
  await pay('basic')
  const id = await soldId()
  if (granted) await grantPlan(stack.ctx, owner().email, { type: 'premium', hours: 30 })
  stack.stripe.inject('error')
  await expect(cancel()).rejects.toMatchObject({ code: 'unavailable' })
  await cancel()
  expect((await stack.ctx.payments.findSubscription(id))?.cancelAtPeriodEnd).toBe(true)
  expect((await listPlans()).filter((plan) => plan.endedAt === null)).toMatchObject([
    { stripeSubscriptionId: id, cancelAtPeriodEnd: true },
  ])
})

test('neither a plan that is over at Stripe nor an older answer ends what was granted later', async () => {
  const { id, late } = await endedEarlier()
  await grantPlan(stack.ctx, owner().email, { type: 'enterprise', hours: 100 })
  await syncPlan(stack.ctx, id)
  await syncPlan(late, id)
  expect(await shown()).toEqual([
    ['basic', 'canceled', false],
    ['enterprise', 'active', true],
  ])
})

test('neither a plan that is over at Stripe nor an older answer lifts the end of a later trial', async () => {
  const { id, late } = await endedEarlier()
  await grantPlan(stack.ctx, owner().email, { type: 'demo', hours: 0.5 })
  const run = await stack.insertRun(owner().id, { from: stack.clock.now, until: null })
  const mustStopAt = stack.clock.now + HOUR / 2
  await stack.db.update(runs).set({ mustStopAt }).where(eq(runs.id, run))
  await syncPlan(stack.ctx, id)
  await syncPlan(late, id)
  const [kept] = await stack.db.select().from(runs).where(eq(runs.id, run))
  expect(kept?.mustStopAt).toBe(mustStopAt)
})

test("a run that is over keeps its trial's end", async () => {
  await stack.insertPlan(owner().id, { planType: 'demo', subType: 'demo', status: 'trialing', hours: 0.5 })
  const [past, running] = [
    await stack.insertRun(owner().id, { from: stack.clock.now, until: stack.clock.now + HOUR / 4 }),
    await stack.insertRun(owner().id, { from: stack.clock.now + HOUR, until: null }),
  ]
  stack.clock.now += 2 * HOUR
  await stack.db
    .update(runs)
    .set({ mustStopAt: stack.clock.now + HOUR })
    .where(eq(runs.userId, owner().id))
  await buy('basic')
  const ends = await stack.db.select().from(runs).where(eq(runs.userId, owner().id))
  expect(Object.fromEntries(ends.map((run) => [run.id, run.mustStopAt]))).toEqual({
    [past]: stack.clock.now + HOUR,
    [running]: null,
  })
})
