import { expect, test } from 'vitest'
import { createCheckout, settleCheckout } from '../../../../src/server/billing/plans/checkout.ts'
import { reconcilePlans } from '../../../../src/server/billing/plans/reconcile.ts'
import { openPlanOwner } from '../../../../testing/people/plan-owner.ts'

const HOUR = 3_600_000

const { stack, owner, plan, planStates, pay, buy, visits, hear, cancel } = await openPlanOwner(Date.UTC(2028, 3, 1))

test('allows twenty cancellations an hour, even at once, each with two calls to Stripe', async () => {
  await buy('basic')
  const before = stack.stripe.calls().length
  const tries = await Promise.allSettled(Array.from({ length: 50 }, cancel))
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
  expect(stack.stripe.calls().length - before).toBe(40)
  stack.clock.now += HOUR
  await cancel()
})

test('can be canceled at the end of the period, resumed, and canceled again', async () => {
  await expect(cancel()).rejects.toMatchObject({ code: 'not_found' })
  const { stripeId } = await buy('basic')
  await cancel()
  await cancel()
  expect(await plan()).toMatchObject({ cancelAtPeriodEnd: true, endedAt: null })
  await stack.atStripe(`subscriptions/${stripeId}`, 'cancel_at_period_end=false')
  await hear()
  expect(await plan()).toMatchObject({ cancelAtPeriodEnd: false, cancelAt: null })
  await cancel()
  const { cancelAt = 0 } = (await plan()) ?? {}
  expect(await plan()).toMatchObject({ cancelAtPeriodEnd: true })
  stack.clock.now = cancelAt ?? 0
  await stack.passTime(stack.clock.now + 2 * HOUR, HOUR)
  expect((await plan())?.endedAt).toBe(cancelAt)
  await pay('premium')
})

test("bought after the previous plan's end but before Stripe ended it: starts once it has ended", async () => {
  await buy('basic')
  await cancel()
  const basic = await plan()
  const { payments } = stack.ctx
  const live = await payments.findSubscription(basic?.stripeSubscriptionId ?? '')
  const late = async (id: string) => (id === live?.id ? live : payments.findSubscription(id))
  const ctx = { ...stack.ctx, payments: { ...payments, findSubscription: late } }
  stack.clock.now = (basic?.cancelAt ?? 0) + 60_000
  await stack.press((await createCheckout(ctx, owner(), { planType: 'premium' })).url)
  const [visit] = (await visits()).filter(({ status }) => status === 'open')
  await expect(settleCheckout(ctx, owner().id)).rejects.toMatchObject({ code: 'unavailable' })
  const checkout = await payments.getCheckout(visit?.stripeSessionId ?? '')
  expect((await payments.findSubscription(checkout?.subscriptionId ?? ''))?.status).toBe('active')
  stack.clock.now += HOUR
  await reconcilePlans(stack.ctx)
  expect(await planStates()).toEqual([
    ['basic', 'canceled'],
    ['premium', 'active'],
  ])
})
