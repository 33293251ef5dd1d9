import { eq } from 'drizzle-orm'
import { expect, test, vi } from 'vitest'
import { checkouts } from '../../../../db/schema/billing.ts'
import { getUsage, toSummary } from '../../../../src/server/billing/bills/usage.ts'
import { cancelAtPeriodEnd } from '../../../../src/server/billing/plans/cancel-plan.ts'
import { createCheckout } from '../../../../src/server/billing/plans/checkout.ts'
import { syncPlan } from '../../../../src/server/billing/plans/plan-sync.ts'
import type { PaidSubscription } from '../../../../src/server/ports/payments.ts'
import type { Context } from '../../../../src/server/runtime/context.ts'
import { openPlanOwner } from '../../../../testing/people/plan-owner.ts'

const { stack, owner, listPlans, plan, cancel, says, sizes, tryStart } = await openPlanOwner(Date.UTC(2028, 0, 10, 9))
const { ctx } = stack

/**
 * Stripe's status and whether the plan is over; then the status and hours shown, the outcome of a start, and the
 * largest server.
 */
const STATES: [string, boolean, unknown[]][] = [
  ['active', false, ['active', 30, 'started', 'srv_4']],
  ['trialing', false, ['trialing', 30, 'started', 'srv_4']],
  ['past_due', false, ['past_due', 0, 'plan_unpaid', 'srv_1']],
  ['unpaid', false, ['unpaid', 0, 'plan_unpaid', 'srv_1']],
  ['incomplete', false, ['incomplete', 0, 'plan_unpaid', 'srv_1']],
  ['paused', false, ['paused', 0, 'plan_unpaid', 'srv_1']],
  ['canceled', true, [null, null, 'started', 'srv_1']],
  // Never paid, so it was no plan, and they had no other.
  ['incomplete_expired', false, [null, null, 'no_plan', 'srv_1']],
]

/** As if Stripe reported this about the plan the user bought. */
async function hear(status: string, found: PaidSubscription, ended = false) {
  stack.clock.now += 1000
  const heard = says(found, { status, endedAt: ended ? stack.clock.now : null })
  await syncPlan(heard, found.id)
  return heard
}
async function bought() {
  const { url } = await createCheckout(ctx, owner(), { planType: 'premium' })
  await stack.press(url)
  const [visit] = await stack.db.select().from(checkouts).where(eq(checkouts.userId, owner().id))
  const checkout = await ctx.payments.getCheckout(visit?.stripeSessionId ?? '')
  return (await ctx.payments.findSubscription(checkout?.subscriptionId ?? '')) as PaidSubscription
}
async function result(heard: Context) {
  const { subscription } = toSummary(await getUsage(heard, owner().id))
  const started = (await tryStart(heard)).split(':')[0]
  return [subscription?.status ?? null, subscription?.hours ?? null, started, (await sizes(heard)).at(-1)]
}

test.each(STATES)('%s: for a plan we know', async (status, ended, expected) => {
  const found = await bought()
  await hear('active', found)
  expect(await result(await hear(status, found, ended))).toEqual(expected)
})

test.each(STATES)('%s: as the first thing we hear', async (status, ended, expected) => {
  expect(await result(await hear(status, await bought(), ended))).toEqual(expected)
})

test.each(['incomplete', 'incomplete_expired'])('%s replaces no plan', async (status) => {
  await stack.insertPlan(owner().id, { planType: 'demo', subType: 'demo', status: 'trialing', hours: 0.5 })
  expect(await result(await hear(status, await bought()))).toEqual(['trialing', 0.5, 'started', 'srv_1'])
  expect(await listPlans()).toHaveLength(1)
})

test('a first payment that never came: canceled at once, and never a plan', async () => {
  const found = await bought()
  const heard = await hear('incomplete', found)
  const cancelNow = vi.fn(async () => {})
  await cancelAtPeriodEnd({ ...heard, payments: { ...heard.payments, cancelNow } }, owner())
  expect(cancelNow).toHaveBeenCalledWith(found.id)
  await hear('incomplete_expired', found)
  expect(await plan()).toMatchObject({ status: 'incomplete_expired', endedAt: found.anchor })
})

test('a first payment that has just come, before its webhook: canceling keeps the paid month', async () => {
  const found = await bought()
  await hear('incomplete', found)
  expect(await plan()).toMatchObject({ status: 'incomplete' })
  await cancel()
  expect(await plan()).toMatchObject({ status: 'active', cancelAtPeriodEnd: true, endedAt: null })
})
