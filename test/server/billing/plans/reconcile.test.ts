import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { reconcilePlans } from '../../../../src/server/billing/plans/reconcile.ts'
import { openPlanOwner } from '../../../../testing/people/plan-owner.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const { stack, owner, listPlans, planStates, open, pay, buy, visits, cancel } = await openPlanOwner(
  Date.UTC(2028, 3, 1),
)
const visitStates = async () => (await visits()).map(({ status }) => status)
const unavailable = { code: 'unavailable' }
async function reconcileAfter(ms: number) {
  stack.clock.now += ms
  await reconcilePlans(stack.ctx)
}

test('paid without a webhook: found within the hour', async () => {
  await pay('basic')
  expect(await listPlans()).toEqual([])
  await reconcileAfter(HOUR)
  expect(await planStates()).toEqual([['basic', 'active']])
  expect(await visitStates()).toEqual(['complete'])
})

test('an abandoned page expires, and another can be opened', async () => {
  await open('basic')
  await reconcileAfter(DAY + HOUR)
  expect(await visitStates()).toEqual(['expired'])
  await pay('basic')
})

test.each(['error', 'lost_response', 'timeout'] as const)(
  '%s while checking a visit or canceling a plan: asking again succeeds',
  async (fault) => {
    await pay('basic')
    for (let call = 0; call < 2; call++) {
      stack.stripe.inject(fault, 1, call)
      await reconcileAfter(HOUR)
      expect([call, await listPlans()]).toEqual([call, []])
      const [visit] = await visits()
      expect(stack.takeLines()).toMatchObject([
        { event: 'reconcile_failed', checkoutId: visit?.id, userId: owner().id },
      ])
    }
    await reconcileAfter(HOUR)
    expect(await listPlans()).toMatchObject([{ status: 'active', cancelAtPeriodEnd: false }])
    for (let call = 0; call < 2; call++) {
      stack.stripe.inject(fault, 1, call)
      await expect(cancel()).rejects.toMatchObject(unavailable)
    }
    await cancel()
    expect(await listPlans()).toMatchObject([{ status: 'active', cancelAtPeriodEnd: true }])
  },
)

test('closes a page whose answer was lost and that nobody requests again', async () => {
  // Otherwise the closing of cycles would wait for it.
  stack.stripe.inject('lost_response', 1, 3)
  await expect(open('basic')).rejects.toMatchObject(unavailable)
  await reconcileAfter(HOUR)
  expect(await visitStates()).toEqual(['expired'])
})

test('a closed account pays for nothing more', async () => {
  await buy('basic')
  await stack.db.update(users).set({ closedAt: stack.clock.now }).where(eq(users.id, owner().id))
  await reconcileAfter(DAY)
  expect((await listPlans())[0]?.status).toBe('canceled')
})
