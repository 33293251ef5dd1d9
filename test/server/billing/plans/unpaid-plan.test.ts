import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { checkouts, places, plans, users } from '../../../../db/schema.ts'
import { addMonths } from '../../../../src/domain/money/billing.ts'
import type { User } from '../../../../src/domain/wire.ts'
import { getUsage, toSummary } from '../../../../src/server/billing/bills/usage.ts'
import { cancelAtPeriodEnd } from '../../../../src/server/billing/plans/cancel-plan.ts'
import { findPlanPayPage } from '../../../../src/server/billing/plans/pay-plan.ts'
import { syncPlan } from '../../../../src/server/billing/plans/plan-sync.ts'
import { BILLING_CRON, runCron } from '../../../../src/server/cron.ts'
import { planOwner } from '../../../../testing/people/plan-owner.ts'
import { openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const stack = await openBillingStack(Date.UTC(2028, 0, 10, 9))
const { ctx } = stack
await stack.db
  .insert(places)
  .values({ id: 'srv_4', instanceType: 'g6.12xlarge', availabilityZone: 'us-east-1a', gpus: 4, position: 1 })
let user: User
const { plan, planStates, buy, subscription, listBills, says, sizes, tryStart } = planOwner(stack, () => user)
const REFUSED = 'payment_required: Your plan is unpaid. Pay the open invoice to start servers again. /subscriptions/pay'
afterAll(() => stack.close())
afterEach(() => expect(inBrief(stack.takeLines())).toEqual([]))
beforeEach(async () => {
  await stack.forgetEverybody()
  user = await stack.newUser()
})

test('its renewal is declined: no hours, no starts, and everything back once its invoice is paid', async () => {
  stack.setWebhooks('handled')
  const { anchor } = await buy('premium', 'declined_later')
  expect([await tryStart(), await sizes()]).toEqual(['started', ['srv_1', 'srv_4']])
  await stack.insertRun(user.id, { from: anchor + DAY, until: anchor + DAY + 10 * HOUR })
  stack.clock.now = anchor + 31 * DAY + 60_000
  await stack.stripe.settle()
  const renewed = Date.UTC(2028, 1, 10, 9)
  expect(await plan()).toMatchObject({ status: 'past_due', paidUntil: renewed })
  await stack.insertRun(user.id, { from: renewed + HOUR, until: renewed + 3 * HOUR })
  stack.clock.now = renewed + DAY
  expect(toSummary(await getUsage(ctx, user.id))).toMatchObject({
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
  const opened = await Promise.allSettled(Array.from({ length: 50 }, () => findPlanPayPage(ctx, user.id)))
  expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
  // They run at once, so any twenty may succeed.
  const refused = opened.filter(({ status }) => status === 'rejected')
  expect(refused).toEqual(
    refused.map(() => expect.objectContaining({ reason: expect.objectContaining({ code: 'too_many' }) })),
  )
  expect(stack.stripe.calls().length - asked).toBeLessThanOrEqual(40)
  stack.clock.now += HOUR
  await stack.press((await findPlanPayPage(ctx, user.id)).page)
  await stack.stripe.settle()
  expect(await plan()).toMatchObject({ status: 'active', paidUntil: null })
  expect((await findPlanPayPage(ctx, user.id)).page).toBeNull()
  expect(toSummary(await getUsage(ctx, user.id))).toMatchObject({
    subscription: { hours: 30 },
    monthlyUsage: { amountOwedDollars: 0 },
  })
  expect([await tryStart(), await sizes()]).toEqual(['started', ['srv_1', 'srv_4']])
  stack.setWebhooks('kept')
})

test('never paid again: every later cycle has none of its hours, even when it ends', async () => {
  const { anchor, stripeId } = await buy('basic', 'declined_later')
  for (const day of [1, 40, 70, 100]) {
    const from = anchor + day * DAY
    await stack.insertRun(user.id, { from, until: from + 4 * HOUR })
  }
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
  await stack.insertRun(user.id, { from: renewed - HOUR, until: renewed + HOUR / 2 })
  stack.clock.now = renewed + HOUR / 2
  await syncPlan(early, stripeId)
  expect(await plan()).toMatchObject({ status: 'active', paidUntil: null })
  // They close their account.
  const now = stack.clock.now
  await stack.db.update(users).set({ closedAt: now, billingDueAt: now }).where(eq(users.id, user.id))
  await stack.db.update(plans).set({ checkAt: now }).where(eq(plans.userId, user.id))
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
  await stack.insertRun(user.id, { from: renewed + HOUR, until: renewed + 20 * HOUR })
  await syncPlan(ctx, stripeId)
  await ctx.payments.cancelNow(stripeId)
  await syncPlan(ctx, stripeId)
  expect(await plan()).toMatchObject({ status: 'canceled', paidUntil: null })
  await stack.passTime(renewed + 2 * DAY, DAY)
  expect(await listBills()).toEqual([
    ['premium', 30, 0],
    ['premium', 30, 0],
  ])
})

test('paid while the webhook is late: a start asks Stripe, and then starts', async () => {
  const { stripeId } = await buy('basic', 'declined_later')
  stack.clock.now += 32 * DAY
  await syncPlan(ctx, stripeId)
  expect(await tryStart()).toBe(REFUSED)
  await stack.press((await findPlanPayPage(ctx, user.id)).page)
  stack.stripe.inject('error')
  expect(await tryStart()).toBe(REFUSED)
  expect(stack.takeLines()).toMatchObject([{ event: 'payment_not_settled', userId: user.id }])
  expect(await tryStart()).toBe('started')
})

test('it can be canceled, and another one bought in its place', async () => {
  const { stripeId } = await buy('premium', 'declined_later')
  stack.clock.now += 32 * DAY
  await syncPlan(ctx, stripeId)
  await cancelAtPeriodEnd(ctx, user)
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
  await expect(cancelAtPeriodEnd(ctx, user)).rejects.toMatchObject({ code: 'not_found' })
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
    (await stack.db.select().from(users).where(eq(users.id, user.id))).map(({ billingDueAt }) => billingDueAt)
  await say(addMonths(anchor, 1))
  await say(addMonths(anchor, 2))
  const before = await dueAt()
  await say(addMonths(anchor, 2))
  expect(await dueAt()).toEqual(before)
})
