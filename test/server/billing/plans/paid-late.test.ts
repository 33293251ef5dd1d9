import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { checkouts } from '../../../../db/schema/billing.ts'
import { addMonths } from '../../../../src/domain/money/billing.ts'
import { closeDueCycles } from '../../../../src/server/billing/bills/close-cycles.ts'
import { createCheckout } from '../../../../src/server/billing/plans/checkout.ts'
import { syncPlan } from '../../../../src/server/billing/plans/plan-sync.ts'
import type { PaidSubscription } from '../../../../src/server/ports/payments.ts'
import { openPlanOwner } from '../../../../testing/people/plan-owner.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const { stack, owner, plan, planStates, buy, cancel, payPage, hear, ranOn, listBills, says } = await openPlanOwner(
  Date.UTC(2028, 0, 10, 9),
)
const { ctx } = stack

test('a checkout held open past the end of a period gives it no hours for paying the next one', async () => {
  const { stripeId, anchor } = await buy('premium', 'declined_later')
  const [unpaid, next] = [addMonths(anchor, 1), addMonths(anchor, 2)]
  await ranOn(unpaid + DAY, 240)
  // Stripe still retries the card when the next period begins.
  const found = await ctx.payments.findSubscription(stripeId)
  const say = (change: Partial<PaidSubscription>) => syncPlan(says(found, { status: 'past_due', ...change }), stripeId)
  stack.clock.now = unpaid + HOUR
  await say({ periodStart: unpaid })
  await closeDueCycles(ctx)
  stack.clock.now = next - HOUR
  await createCheckout(ctx, owner(), { planType: 'basic' })
  await stack.db.update(checkouts).set({ checkAt: null }).where(eq(checkouts.userId, owner().id))
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
  await ranOn(unpaid + DAY, 240)
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
  await ranOn(unpaid + DAY, 10)
  stack.clock.now = unpaid + 2 * DAY
  await hear()
  const page = await payPage()
  await ctx.payments.cancelNow(stripeId)
  await hear()
  expect(await plan()).toMatchObject({ status: 'canceled', paidUntil: unpaid })
  stack.clock.now += HOUR
  await stack.press(page)
  await hear()
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
  for (const from of [unpaid + DAY, last + DAY]) await ranOn(from, 10)
  for (const at of [unpaid + HOUR, unpaid + 15 * DAY, last + HOUR]) {
    stack.clock.now = at
    await hear()
    await closeDueCycles(ctx)
  }
  expect(await plan()).toMatchObject({ status: 'unpaid', paidUntil: unpaid })
  stack.clock.now = last + 2 * DAY
  await stack.press(await payPage())
  await ctx.payments.cancelAtPeriodEnd(stripeId, 'portal')
  stack.clock.now = end + HOUR
  await hear()
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
    const { anchor } = await buy('premium', 'declined_later')
    const [unpaid, next] = [addMonths(anchor, 1), addMonths(anchor, 2)]
    await ranOn(unpaid + DAY, 30)
    stack.clock.now = unpaid + HOUR
    await hear()
    if (then === 'canceled') await cancel()
    expect(await plan()).toMatchObject({ status: 'past_due', paidUntil: unpaid })
    await closeDueCycles(ctx)
    stack.clock.now = next - 1000
    await stack.press(await payPage())
    stack.clock.now = next + 30_000
    await hear()
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
  const { anchor } = await buy('premium', 'declined_later')
  const [renewed, over] = [addMonths(anchor, 1), addMonths(anchor, 2)]
  stack.clock.now = renewed + HOUR
  await hear()
  const { url } = await createCheckout(ctx, owner(), { planType: 'basic' })
  await stack.press(await payPage())
  await hear()
  await ranOn(renewed + 2 * HOUR, 18)
  stack.clock.now = renewed + 20 * HOUR
  stack.setWebhooks('handled')
  await stack.press(url)
  stack.clock.now += 5_000
  await stack.stripe.settle()
  // Stripe reports our own cancellation.
  stack.clock.now += 5_000
  await stack.stripe.settle()
  stack.setWebhooks('kept')
  await ranOn(renewed + 2 * DAY, 30)
  expect(await planStates()).toEqual([['premium', 'active']])
  // One alert per check, because Stripe's events about it arrive one by one.
  expect([...new Set(inBrief(stack.takeLines()))]).toEqual([expect.stringMatching(/^alert second_plan_canceled:sub_/)])
  await stack.passTime(over + 2 * DAY, DAY)
  expect(await listBills()).toEqual([
    ['premium', 30, 0],
    ['premium', 30, 3150],
  ])
})
