import { asc, eq, like } from 'drizzle-orm'
import { beforeEach, expect, test, vi } from 'vitest'
import { bills, outbox, plans, runs, alerts as told, users } from '../../../../db/schema.ts'
import type { User } from '../../../../src/domain/wire.ts'
import { cancelAtPeriodEnd } from '../../../../src/server/billing/plans/cancel-plan.ts'
import { createCheckout, settleCheckout } from '../../../../src/server/billing/plans/checkout.ts'
import { grantPlan } from '../../../../src/server/billing/plans/grants.ts'
import { checkPlan, syncPlan } from '../../../../src/server/billing/plans/plan-sync.ts'
import type { Context } from '../../../../src/server/context.ts'
import { openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const stack = await openBillingStack(Date.UTC(2028, 0, 10, 9) + 700)
let user: User
beforeEach(async () => {
  await stack.forgetEverybody()
  user = await stack.newUser()
})

const listPlans = async () =>
  stack.db.select().from(plans).where(eq(plans.userId, user.id)).orderBy(asc(plans.createdAt))
const shown = async () => (await listPlans()).map((p) => [p.planType, p.status, p.endedAt === null])
const alerts = async () =>
  (await stack.db.select().from(outbox).where(eq(outbox.recipient, 'operator@site.test'))).map((m) => m.subject)
const pay = async (planType: string) => stack.press((await createCheckout(stack.ctx, user, { planType })).url)
async function stripeId(): Promise<string> {
  const { data } = await stack.atStripe<{ data: { id: string }[] }>('subscriptions?limit=1')
  return data[0]?.id ?? ''
}

test.each([
  ['in the same second', 0, 'basic'],
  ['hours later, by support', 2 * HOUR, 'enterprise'],
  ['a trial in the same second', 0, 'demo'],
] as const)('granted %s: the paid one counts once, from its own start', async (_, later, granted) => {
  await pay('basic')
  const paidAt = Math.floor(stack.clock.now / 1000) * 1000
  stack.clock.now += later
  await grantPlan(stack.ctx, user.email, { type: granted, hours: 100 })
  stack.clock.now += HOUR
  await settleCheckout(stack.ctx, user.id)
  expect((await shown()).map(([type, , stands]) => [type, stands])).toEqual([
    [granted, false],
    ['basic', true],
  ])
  await stack.insertRun(user.id, { from: paidAt + DAY, until: paidAt + DAY + 7 * HOUR })
  await stack.passTime(paidAt + 32 * DAY, DAY)
  const records = await stack.db.select().from(bills).where(eq(bills.userId, user.id))
  expect(records.map((r) => [r.planType, r.includedHours, r.amountCents])).toEqual([['basic', 5, 350]])
  await expect(createCheckout(stack.ctx, user, { planType: 'premium' })).rejects.toMatchObject({ code: 'invalid' })
})

test('granted twice while the webhook is late: neither grant splits a period of the paid plan', async () => {
  await pay('basic')
  const paidAt = Math.floor(stack.clock.now / 1000) * 1000
  for (const type of ['premium', 'enterprise'] as const) {
    stack.clock.now += HOUR
    await grantPlan(stack.ctx, user.email, { type, hours: 30 })
  }
  stack.clock.now += HOUR
  await settleCheckout(stack.ctx, user.id)
  await stack.insertRun(user.id, { from: paidAt + DAY, until: paidAt + DAY + 7 * HOUR })
  await stack.passTime(paidAt + 32 * DAY, DAY)
  const records = await stack.db.select().from(bills).where(eq(bills.userId, user.id))
  expect(records.map((r) => [r.planType, r.includedHours, r.amountCents])).toEqual([['basic', 5, 350]])
})

test('a grant beside a paid plan that was over when we heard of it keeps its time, whatever we hear later', async () => {
  await pay('basic')
  const id = await stripeId()
  stack.clock.now += HOUR
  await grantPlan(stack.ctx, user.email, { type: 'enterprise', hours: 100 })
  stack.clock.now += HOUR
  await stack.ctx.payments.cancelNow(id)
  await syncPlan(stack.ctx, id)
  stack.clock.now += HOUR
  await grantPlan(stack.ctx, user.email, { type: 'premium', hours: 30 })
  await syncPlan(stack.ctx, id)
  const granted = (await listPlans()).filter((plan) => plan.stripeSubscriptionId === null)
  expect(granted.map(({ anchor, endedAt }) => endedAt && endedAt - anchor)).toEqual([2 * HOUR, null])
})

test('a plan whose payments were read at the very moment of its end is checked no more', async () => {
  await pay('basic')
  await settleCheckout(stack.ctx, user.id)
  const id = await stripeId()
  stack.clock.now = Math.ceil(stack.clock.now / 1000) * 1000
  await stack.ctx.payments.cancelNow(id)
  await checkPlan(stack.ctx, id)
  expect(await listPlans()).toMatchObject([{ endedAt: stack.clock.now, checkAt: null }])
  stack.clock.now += 700
})

test('a plan that was granted and replaced after a paid one had ended keeps its time', async () => {
  const { id } = await endedEarlier()
  for (const type of ['premium', 'enterprise'] as const) {
    await grantPlan(stack.ctx, user.email, { type, hours: 30 })
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
  await stack.insertPlan(user.id, { planType: 'demo', subType: 'demo', status: 'trialing', hours: 0.5 })
  await pay('basic')
  const id = await stripeId()
  if (granted) await grantPlan(stack.ctx, user.email, { type: 'premium', hours: 30 })
  stack.stripe.inject('error')
  await expect(cancelAtPeriodEnd(stack.ctx, user)).rejects.toMatchObject({ code: 'unavailable' })
  await cancelAtPeriodEnd(stack.ctx, user)
  expect((await stack.ctx.payments.findSubscription(id))?.cancelAtPeriodEnd).toBe(true)
  expect((await listPlans()).filter((plan) => plan.endedAt === null)).toMatchObject([
    { stripeSubscriptionId: id, cancelAtPeriodEnd: true },
  ])
})

/** A plan that ended a day ago. `late` asks about it, and gets the answer from before its end. */
async function endedEarlier(): Promise<{ id: string; late: Context }> {
  await pay('basic')
  const id = await stripeId()
  await settleCheckout(stack.ctx, user.id)
  const old = await stack.ctx.payments.findSubscription(id)
  const askedThen = stack.clock.now
  stack.clock.now += DAY
  await stack.ctx.payments.cancelNow(id)
  await syncPlan(stack.ctx, id)
  stack.clock.now += DAY
  const payments = { ...stack.ctx.payments, findSubscription: async () => old }
  return { id, late: { ...stack.ctx, now: () => askedThen, payments } }
}

test('neither a plan that is over at Stripe nor an older answer ends what was granted later', async () => {
  const { id, late } = await endedEarlier()
  await grantPlan(stack.ctx, user.email, { type: 'enterprise', hours: 100 })
  await syncPlan(stack.ctx, id)
  await syncPlan(late, id)
  expect(await shown()).toEqual([
    ['basic', 'canceled', false],
    ['enterprise', 'active', true],
  ])
})

test('two Stripe plans written at the same moment: the second is canceled and the operator alerted', async () => {
  await pay('basic')
  const first = await stripeId()
  await settleCheckout(stack.ctx, user.id)
  const { payments } = stack.ctx
  const [row] = await listPlans()
  await stack.db.delete(plans).where(eq(plans.userId, user.id))
  const second = { ...(await payments.findSubscription(first)), id: 'sub_second' }
  const cancelNow = vi.fn(async () => {})
  // The first one's row is written after the second's sync has looked for rivals.
  const { batch } = stack.db
  const spy = vi.spyOn(stack.db, 'batch').mockImplementationOnce(async (queries) => {
    const rows = await batch.call(stack.db, queries)
    if (row) await stack.db.insert(plans).values(row)
    return rows as never
  })
  const findSubscription = async (id: string) => (id === first ? payments.findSubscription(id) : second)
  await syncPlan({ ...stack.ctx, payments: { ...payments, cancelNow, findSubscription } } as Context, 'sub_second')
  spy.mockRestore()
  expect(cancelNow).toHaveBeenCalledWith('sub_second')
  expect(await shown()).toEqual([['basic', 'active', true]])
  expect(await alerts()).toContain('A second plan was canceled: refund it')
  expect(inBrief(stack.takeLines())).toEqual(['alert second_plan_canceled:sub_second'])
})

test.each(['answer', 'mail'])(
  'a second one, canceled just as the %s is lost: the next check alerts the operator',
  async (cut) => {
    await pay('basic')
    const first = await stripeId()
    await settleCheckout(stack.ctx, user.id)
    const { payments } = stack.ctx
    const customerId = (await payments.findSubscription(first))?.customerId ?? ''
    const [successUrl, cancelUrl] = ['http://site.test/a', 'http://site.test/b']
    const page = { customerId, userId: user.id, planType: 'premium' as const, successUrl, cancelUrl }
    stack.clock.now += HOUR
    await stack.press((await payments.createCheckout(page, `second:${cut}`)).url)
    const second = await stripeId()
    const cancelNow = async (id: string) => {
      await payments.cancelNow(id)
      throw new Error('No answer came.')
    }
    const dying = cut === 'answer' ? { payments: { ...payments, cancelNow } } : { config: undefined }
    await syncPlan({ ...stack.ctx, ...dying } as unknown as Context, second).catch(() => {})
    expect((await payments.findSubscription(second))?.status).toBe('canceled')
    await syncPlan(stack.ctx, second)
    expect(await shown()).toEqual([['basic', 'active', true]])
    const matter = `second_plan_canceled:${second}`
    expect((await stack.db.select().from(told)).map((row) => row.matter)).toContain(matter)
    const lost = [`alert ${matter}`, `alert_not_mailed ${matter}`]
    expect(inBrief(stack.takeLines())).toEqual([...(cut === 'mail' ? lost : []), `alert ${matter}`])
  },
)

test('a sync that changes nothing never delays a closing, however often it runs', async () => {
  const dueAt = async () => (await stack.db.select().from(users).where(eq(users.id, user.id)))[0]?.billingDueAt
  await pay('basic')
  await settleCheckout(stack.ctx, user.id)
  await stack.passTime(stack.clock.now + HOUR, HOUR)
  const due = await dueAt()
  await syncPlan(stack.ctx, await stripeId())
  expect(await dueAt()).toBe(due)
  await cancelAtPeriodEnd(stack.ctx, user)
  expect(await dueAt()).toBe(stack.clock.now)
  await cancelAtPeriodEnd(stack.ctx, user)
  expect(await dueAt()).toBe(stack.clock.now)
  user = await stack.newUser()
  await stack.insertPlan(user.id)
  for (let n = 0; n < 3; n++) await cancelAtPeriodEnd(stack.ctx, user)
  expect(await dueAt()).toBe(-1)
})

test('a write the database keeps refusing is a conflict and an alert; we retry hourly until it is recorded', async () => {
  await pay('basic')
  await stack.db.run(`CREATE TRIGGER refuse BEFORE INSERT ON subscriptions WHEN NEW.user_id = '${user.id}'
    BEGIN SELECT RAISE(ABORT, 'UNIQUE constraint failed: subscriptions.user_id'); END`)
  for (const ask of [
    () => settleCheckout(stack.ctx, user.id),
    () => createCheckout(stack.ctx, user, { planType: 'basic' }),
  ])
    await expect(ask()).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('been notified') })
  expect(await alerts()).toContain("We couldn't record a paid plan")
  const line = `alert plan_not_recorded:${await stripeId()}`
  expect(inBrief(stack.takeLines())).toEqual([line, line])
  await stack.db.run('DROP TRIGGER refuse')
  await stack.passTime(stack.clock.now + 2 * HOUR, HOUR)
  expect(await shown()).toEqual([['basic', 'active', true]])
})

test('bought at a price that has since lost its key: the plan we wrote on it', async () => {
  await pay('premium')
  const found = await stack.ctx.payments.findSubscription(await stripeId())
  const payments = { ...stack.ctx.payments, findSubscription: async () => found && { ...found, planType: null } }
  await settleCheckout({ ...stack.ctx, payments } as Context, user.id)
  expect((await listPlans()).map((p) => [p.planType, p.hours])).toEqual([['premium', 30]])
})

test('an unknown user or plan: writes nothing and alerts the operator', async () => {
  await pay('premium')
  const found = await stack.ctx.payments.findSubscription(await stripeId())
  const toldOf = async (id: string, strange: object) => {
    const payments = { ...stack.ctx.payments, findSubscription: async () => found && { ...found, ...strange, id } }
    await syncPlan({ ...stack.ctx, payments } as Context, id)
    const mails = await stack.db
      .select()
      .from(outbox)
      .where(like(outbox.text, `%${id}%`))
    return mails.map(({ recipient, subject, text }) => [recipient, subject, /\w+ \w+ is not ours/.exec(text)?.[0]])
  }
  const [userId, price] = [{ userId: 'user_nobody' }, { planType: null, boughtAs: null }]
  const told = ['operator@site.test', "A Stripe subscription doesn't match any of our plans"]
  expect(await toldOf('sub_of_nobody', userId)).toEqual([[...told, 'its user is not ours']])
  expect(await toldOf('sub_at_no_price', price)).toEqual([[...told, 'its price is not ours']])
  // What is over costs nobody anything.
  expect(await toldOf('sub_over', { ...userId, endedAt: stack.clock.now })).toEqual([])
  const ignored = ['sub_of_nobody', 'sub_at_no_price'].map((id) => `alert subscription_ignored:${id}`)
  expect(inBrief(stack.takeLines())).toEqual(ignored)
  expect(await listPlans()).toEqual([])
})

test('neither a plan that is over at Stripe nor an older answer lifts the end of a later trial', async () => {
  const { id, late } = await endedEarlier()
  await grantPlan(stack.ctx, user.email, { type: 'demo', hours: 0.5 })
  const run = await stack.insertRun(user.id, { from: stack.clock.now, until: null })
  const mustStopAt = stack.clock.now + HOUR / 2
  await stack.db.update(runs).set({ mustStopAt }).where(eq(runs.id, run))
  await syncPlan(stack.ctx, id)
  await syncPlan(late, id)
  const [kept] = await stack.db.select().from(runs).where(eq(runs.id, run))
  expect(kept?.mustStopAt).toBe(mustStopAt)
})

test("a run that is over keeps its trial's end", async () => {
  await stack.insertPlan(user.id, { planType: 'demo', subType: 'demo', status: 'trialing', hours: 0.5 })
  const [past, running] = [
    await stack.insertRun(user.id, { from: stack.clock.now, until: stack.clock.now + HOUR / 4 }),
    await stack.insertRun(user.id, { from: stack.clock.now + HOUR, until: null }),
  ]
  stack.clock.now += 2 * HOUR
  await stack.db
    .update(runs)
    .set({ mustStopAt: stack.clock.now + HOUR })
    .where(eq(runs.userId, user.id))
  await pay('basic')
  await settleCheckout(stack.ctx, user.id)
  const ends = await stack.db.select().from(runs).where(eq(runs.userId, user.id))
  expect(Object.fromEntries(ends.map((run) => [run.id, run.mustStopAt]))).toEqual({
    [past]: stack.clock.now + HOUR,
    [running]: null,
  })
})
