import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { checkouts, plans } from '../../../../db/schema/billing.ts'
import { addMonths } from '../../../../src/domain/money/billing.ts'
import { syncPlan } from '../../../../src/server/billing/plans/plan-sync.ts'
import { BILLING_CRON, runCron } from '../../../../src/server/cron.ts'
import { openPlanOwner } from '../../../../testing/people/plan-owner.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const {
  stack,
  owner,
  plan,
  planStates,
  buy,
  cancel,
  payPage,
  hear,
  ranOn,
  summary,
  subscription,
  listBills,
  says,
  sizes,
  tryStart,
} = await openPlanOwner(Date.UTC(2028, 0, 10, 9))
const { ctx } = stack
const REFUSED = 'plan_unpaid: Your plan is unpaid. Pay the open invoice to start servers again. /subscriptions/pay'

test('its renewal is declined: no hours, no starts, and everything back once its invoice is paid', async () => {
  stack.setWebhooks('handled')
  const { anchor } = await buy('premium', 'declined_later')
  expect([await tryStart(), await sizes()]).toEqual(['started', ['srv_1', 'srv_4']])
  await ranOn(anchor + DAY, 10)
  stack.clock.now = anchor + 31 * DAY + 60_000
  await stack.stripe.settle()
  const renewed = Date.UTC(2028, 1, 10, 9)
  expect(await plan()).toMatchObject({ status: 'past_due', paidUntil: renewed })
  await ranOn(renewed + HOUR, 2)
  stack.clock.now = renewed + DAY
  expect(await summary()).toMatchObject({
    subscription: { status: 'past_due', hours: 0 },
    monthlyUsage: { hoursUsed: 2, amountOwedDollars: 3.5 },
  })
  expect([await tryStart(), await sizes()]).toEqual([REFUSED, ['srv_1']])
  const before = stack.stripe.calls().length
  for (let i = 0; i < 70; i++) expect(await tryStart()).toBe(REFUSED)
  expect(stack.stripe.calls().length - before).toBeLessThanOrEqual(60)
  // The previous period was paid, so its cycle has its hours.
  await stack.passTime(renewed + 2 * DAY, DAY)
  expect(await listBills()).toEqual([['premium', 30, 0]])

  stack.clock.now = renewed + 15 * DAY
  await stack.stripe.settle()
  expect(await plan()).toMatchObject({ status: 'unpaid', paidUntil: renewed })
  // The page asks Stripe each time it opens.
  const asked = stack.stripe.calls().length
  const opened = await Promise.allSettled(Array.from({ length: 50 }, payPage))
  expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
  // They run at once, so any twenty may succeed.
  const refused = opened.filter(({ status }) => status === 'rejected')
  expect(refused).toEqual(
    refused.map(() => expect.objectContaining({ reason: expect.objectContaining({ code: 'too_many' }) })),
  )
  expect(stack.stripe.calls().length - asked).toBeLessThanOrEqual(40)
  stack.clock.now += HOUR
  await stack.press(await payPage())
  await stack.stripe.settle()
  expect(await plan()).toMatchObject({ status: 'active', paidUntil: null })
  expect(await payPage()).toBeNull()
  expect(await summary()).toMatchObject({
    subscription: { hours: 30 },
    monthlyUsage: { amountOwedDollars: 0 },
  })
  expect([await tryStart(), await sizes()]).toEqual(['started', ['srv_1', 'srv_4']])
  stack.setWebhooks('kept')
})

test('never paid again: every later cycle has none of its hours, even when it ends', async () => {
  const { anchor, stripeId } = await buy('basic', 'declined_later')
  for (const day of [1, 40, 70, 100]) await ranOn(anchor + day * DAY, 4)
  await stack.passTime(anchor + 95 * DAY, DAY)
  const paidUntil = addMonths(anchor, 1)
  expect(await plan()).toMatchObject({ status: 'unpaid', paidUntil })
  await ctx.payments.cancelNow(stripeId)
  await stack.passTime(anchor + 125 * DAY, DAY)
  expect(await plan()).toMatchObject({ status: 'canceled', paidUntil })
  expect((await listBills()).slice(0, 4)).toEqual([
    ['basic', 5, 0],
    ['basic', 0, 700],
    ['basic', 0, 700],
    ['basic', 0, 0],
  ])
})

test('it ends before Stripe charges for its new period: that period has no hours', async () => {
  const { anchor, stripeId } = await buy('premium', 'declined_later')
  // Stripe leaves a renewal's invoice as a draft for about an hour, and the plan active.
  const findSubscription = async (id: string) => {
    const found = await ctx.payments.findSubscription(id)
    return found && { ...found, status: found.status === 'past_due' ? 'active' : found.status }
  }
  const early = { ...ctx, payments: { ...ctx.payments, findSubscription } }
  const renewed = addMonths(anchor, 1)
  await ranOn(renewed - HOUR, 1.5)
  stack.clock.now = renewed + HOUR / 2
  await syncPlan(early, stripeId)
  expect(await plan()).toMatchObject({ status: 'active', paidUntil: null })
  // They close their account.
  const now = stack.clock.now
  await stack.db.update(users).set({ closedAt: now, billingDueAt: now }).where(eq(users.id, owner().id))
  await stack.db.update(plans).set({ checkAt: now }).where(eq(plans.userId, owner().id))
  stack.clock.now += 3 * 60_000
  await runCron(early, BILLING_CRON)
  expect(await plan()).toMatchObject({ status: 'canceled', paidUntil: renewed })
  expect(await listBills()).toEqual([
    ['premium', 30, 0],
    ['premium', 0, 87],
  ])
})

test('it ends in a period that was paid: that period has its hours', async () => {
  const { anchor, stripeId } = await buy('premium')
  const renewed = addMonths(anchor, 1)
  stack.clock.now = renewed + 20 * HOUR
  await ranOn(renewed + HOUR, 19)
  await hear()
  await ctx.payments.cancelNow(stripeId)
  await hear()
  expect(await plan()).toMatchObject({ status: 'canceled', paidUntil: null })
  await stack.passTime(renewed + 2 * DAY, DAY)
  expect(await listBills()).toEqual([
    ['premium', 30, 0],
    ['premium', 30, 0],
  ])
})

test('paid while the webhook is late: a start asks Stripe, and then starts', async () => {
  await buy('basic', 'declined_later')
  stack.clock.now += 32 * DAY
  await hear()
  expect(await tryStart()).toBe(REFUSED)
  await stack.press(await payPage())
  stack.stripe.inject('error')
  expect(await tryStart()).toBe(REFUSED)
  expect(stack.takeLines()).toMatchObject([{ event: 'payment_not_settled', userId: owner().id }])
  expect(await tryStart()).toBe('started')
})

test('it can be canceled, and another one bought in its place', async () => {
  const { stripeId } = await buy('premium', 'declined_later')
  stack.clock.now += 32 * DAY
  await hear()
  await cancel()
  expect(await plan()).toMatchObject({ status: 'past_due', cancelAtPeriodEnd: true, endedAt: null })
  await buy('basic')
  expect(await planStates()).toEqual([
    ['premium', 'canceled'],
    ['basic', 'active'],
  ])
  expect((await ctx.payments.findSubscription(stripeId))?.status).toBe('canceled')
  expect([await tryStart(), (await subscription())?.hours]).toEqual(['started', 5])
  expect(await stack.db.$count(checkouts, eq(checkouts.status, 'open'))).toBe(0)
})

test('ended at Stripe before we learned about it: there is nothing to cancel, and we record its end', async () => {
  const { stripeId } = await buy('basic', 'declined_later')
  await ctx.payments.cancelNow(stripeId)
  await expect(cancel()).rejects.toMatchObject({ code: 'not_found' })
  expect(await plan()).toMatchObject({ status: 'canceled' })
})

test('repeated syncs, periods later, delay no bill', async () => {
  const { stripeId, anchor } = await buy('basic', 'declined_later')
  const found = await ctx.payments.findSubscription(stripeId)
  const say = (periodStart: number) => {
    stack.clock.now += 1000
    return syncPlan(says(found, { status: 'past_due', periodStart }), stripeId)
  }
  const dueAt = async () =>
    (await stack.db.select().from(users).where(eq(users.id, owner().id))).map(({ billingDueAt }) => billingDueAt)
  await say(addMonths(anchor, 1))
  await say(addMonths(anchor, 2))
  const before = await dueAt()
  await say(addMonths(anchor, 2))
  expect(await dueAt()).toEqual(before)
})
