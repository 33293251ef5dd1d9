import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { checkouts } from '../../../../db/schema.ts'
import { addMonths } from '../../../../src/domain/money/billing.ts'
import type { User } from '../../../../src/domain/wire.ts'
import { closeDueCycles } from '../../../../src/server/billing/bills/close-cycles.ts'
import { cancelAtPeriodEnd } from '../../../../src/server/billing/plans/cancel-plan.ts'
import { createCheckout } from '../../../../src/server/billing/plans/checkout.ts'
import { findPlanPayPage } from '../../../../src/server/billing/plans/pay-plan.ts'
import { syncPlan } from '../../../../src/server/billing/plans/plan-sync.ts'
import type { PaidSubscription } from '../../../../src/server/ports/payments.ts'
import { planOwner } from '../../../../testing/people/plan-owner.ts'
import { openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const stack = await openBillingStack(Date.UTC(2028, 0, 10, 9))
const { ctx } = stack
let user: User
const { plan, planStates, buy, listBills, says } = planOwner(stack, () => user)
afterAll(() => stack.close())
afterEach(() => expect(inBrief(stack.takeLines())).toEqual([]))
beforeEach(async () => {
  await stack.forgetEverybody()
  user = await stack.newUser()
})

test('a checkout held open past the end of a period gives it no hours for paying the next one', async () => {
  const { stripeId, anchor } = await buy('premium', 'declined_later')
  const [unpaid, next] = [addMonths(anchor, 1), addMonths(anchor, 2)]
  await stack.insertRun(user.id, { from: unpaid + DAY, until: unpaid + 11 * DAY })
  // Stripe still retries the card when the next period begins.
  const found = await ctx.payments.findSubscription(stripeId)
  const say = (change: Partial<PaidSubscription>) => syncPlan(says(found, { status: 'past_due', ...change }), stripeId)
  stack.clock.now = unpaid + HOUR
  await say({ periodStart: unpaid })
  await closeDueCycles(ctx)
  stack.clock.now = next - HOUR
  await createCheckout(ctx, user, { planType: 'basic' })
  await stack.db.update(checkouts).set({ checkAt: null }).where(eq(checkouts.userId, user.id))
  stack.clock.now = next + HOUR
  await say({ periodStart: next })
  await closeDueCycles(ctx)
  expect(await listBills()).toEqual([['premium', 30, 0]])
  await say({ periodStart: next, status: 'active' })
  expect(await plan()).toMatchObject({ status: 'active', paidUntil: unpaid })
  expect((await plan())?.checkAt).toBe(next + 2 * HOUR)
  stack.clock.now = next + 25 * HOUR
  await closeDueCycles(ctx)
  expect(await listBills()).toEqual([
    ['premium', 30, 0],
    ['premium', 0, 41999],
  ])
  // The period that was paid for has them.
  await say({ periodStart: next, status: 'active' })
  expect(await plan()).toMatchObject({ status: 'active', paidUntil: null })
})

test('paid for its next period, and ended before the unpaid one is billed: that one has no hours', async () => {
  const { stripeId, anchor } = await buy('premium', 'declined_later')
  const [unpaid, next] = [addMonths(anchor, 1), addMonths(anchor, 2)]
  await stack.insertRun(user.id, { from: unpaid + DAY, until: unpaid + 11 * DAY })
  const found = await ctx.payments.findSubscription(stripeId)
  const wasPaidWithin = async (_: string, { end }: { end: number }) => end > next
  const say = (change: Partial<PaidSubscription>) => {
    const said = says(found, change)
    return syncPlan({ ...said, payments: { ...said.payments, wasPaidWithin } }, stripeId)
  }
  stack.clock.now = unpaid + HOUR
  await say({ status: 'past_due', periodStart: unpaid })
  stack.clock.now = next + HOUR
  await say({ status: 'active', periodStart: next })
  await say({ status: 'canceled', periodStart: next, endedAt: next + HOUR / 2 })
  expect(await plan()).toMatchObject({ status: 'canceled', paidUntil: unpaid })
  await closeDueCycles(ctx)
  expect((await listBills()).slice(0, 2)).toEqual([
    ['premium', 30, 0],
    ['premium', 0, 41999],
  ])
})

test('ended unpaid, and paid after that: that period still has no hours', async () => {
  const { stripeId, anchor } = await buy('premium', 'declined_later')
  const unpaid = addMonths(anchor, 1)
  await stack.insertRun(user.id, { from: unpaid + DAY, until: unpaid + DAY + 10 * HOUR })
  stack.clock.now = unpaid + 2 * DAY
  await syncPlan(ctx, stripeId)
  const { page } = await findPlanPayPage(ctx, user.id)
  await ctx.payments.cancelNow(stripeId)
  await syncPlan(ctx, stripeId)
  expect(await plan()).toMatchObject({ status: 'canceled', paidUntil: unpaid })
  stack.clock.now += HOUR
  await stack.press(page)
  await syncPlan(ctx, stripeId)
  expect(await plan()).toMatchObject({ status: 'canceled', paidUntil: unpaid })
  await closeDueCycles(ctx)
  expect((await listBills()).slice(0, 2)).toEqual([
    ['premium', 30, 0],
    ['premium', 0, 1750],
  ])
})

test('paid again in its last period, which we learn after its end: that period has its hours', async () => {
  const { stripeId, anchor } = await buy('premium', 'declined_later')
  const [unpaid, last, end] = [addMonths(anchor, 1), addMonths(anchor, 2), addMonths(anchor, 3)]
  for (const from of [unpaid + DAY, last + DAY]) await stack.insertRun(user.id, { from, until: from + 10 * HOUR })
  for (const at of [unpaid + HOUR, unpaid + 15 * DAY, last + HOUR]) {
    stack.clock.now = at
    await syncPlan(ctx, stripeId)
    await closeDueCycles(ctx)
  }
  expect(await plan()).toMatchObject({ status: 'unpaid', paidUntil: unpaid })
  stack.clock.now = last + 2 * DAY
  await stack.press((await findPlanPayPage(ctx, user.id)).page)
  await ctx.payments.cancelAtPeriodEnd(stripeId, 'portal')
  stack.clock.now = end + HOUR
  await syncPlan(ctx, stripeId)
  expect(await plan()).toMatchObject({ status: 'canceled', paidUntil: null })
  await closeDueCycles(ctx)
  expect(await listBills()).toEqual([
    ['premium', 30, 0],
    ['premium', 0, 1750],
    ['premium', 30, 0],
  ])
})

test.each(['renewed', 'canceled'])(
  'paid in its last second, which we learn when it is %s: it has its hours',
  async (then) => {
    const { stripeId, anchor } = await buy('premium', 'declined_later')
    const [unpaid, next] = [addMonths(anchor, 1), addMonths(anchor, 2)]
    await stack.insertRun(user.id, { from: unpaid + DAY, until: unpaid + DAY + 30 * HOUR })
    stack.clock.now = unpaid + HOUR
    await syncPlan(ctx, stripeId)
    if (then === 'canceled') await cancelAtPeriodEnd(ctx, user)
    expect(await plan()).toMatchObject({ status: 'past_due', paidUntil: unpaid })
    await closeDueCycles(ctx)
    stack.clock.now = next - 1000
    await stack.press((await findPlanPayPage(ctx, user.id)).page)
    stack.clock.now = next + 30_000
    await syncPlan(ctx, stripeId)
    expect(await plan()).toMatchObject(
      then === 'renewed' ? { status: 'past_due', paidUntil: next } : { status: 'canceled', paidUntil: null },
    )
    stack.clock.now = next + HOUR
    await closeDueCycles(ctx)
    expect(await listBills()).toEqual([
      ['premium', 30, 0],
      ['premium', 30, 0],
    ])
  },
)

test("paid again while another plan's page is open: paying there as well grants no hours twice", async () => {
  const { stripeId, anchor } = await buy('premium', 'declined_later')
  const [renewed, over] = [addMonths(anchor, 1), addMonths(anchor, 2)]
  stack.clock.now = renewed + HOUR
  await syncPlan(ctx, stripeId)
  const { url } = await createCheckout(ctx, user, { planType: 'basic' })
  await stack.press((await findPlanPayPage(ctx, user.id)).page)
  await syncPlan(ctx, stripeId)
  await stack.insertRun(user.id, { from: renewed + 2 * HOUR, until: renewed + 20 * HOUR })
  stack.clock.now = renewed + 20 * HOUR
  stack.setWebhooks('handled')
  await stack.press(url)
  stack.clock.now += 5_000
  await stack.stripe.settle()
  // Stripe reports our own cancellation.
  stack.clock.now += 5_000
  await stack.stripe.settle()
  stack.setWebhooks('kept')
  await stack.insertRun(user.id, { from: renewed + 2 * DAY, until: renewed + 2 * DAY + 30 * HOUR })
  expect(await planStates()).toEqual([['premium', 'active']])
  // One alert per check, because Stripe's events about it arrive one by one.
  expect([...new Set(inBrief(stack.takeLines()))]).toEqual([expect.stringMatching(/^alert second_plan_canceled:sub_/)])
  await stack.passTime(over + 2 * DAY, DAY)
  expect(await listBills()).toEqual([
    ['premium', 30, 0],
    ['premium', 30, 3150],
  ])
})
