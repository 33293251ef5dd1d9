import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import type { User } from '../../../../src/domain/wire.ts'
import { getUsage, toSummary } from '../../../../src/server/billing/bills/usage.ts'
import { planOwner } from '../../../../testing/people/plan-owner.ts'
import { openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'

/** Someone changes a subscription's price in Stripe's dashboard. */

const HOUR = 3_600_000
const DAY = 24 * HOUR

const stack = await openBillingStack(Date.UTC(2028, 0, 10))
let user: User
const { plan, buy, hear, listBills } = planOwner(stack, () => user)
beforeEach(async () => {
  await stack.forgetEverybody()
  user = await stack.newUser()
})
afterAll(() => stack.close())
afterEach(() => expect(inBrief(stack.takeLines())).toEqual([]))

async function change(planType: string) {
  const { data } = await stack.atStripe<{ data: { id: string }[] }>(
    `prices?lookup_keys[]=proving_ground_${planType}_monthly`,
  )
  await stack.atStripe(`subscriptions/${(await plan())?.stripeSubscriptionId}`, `items[0][price]=${data[0]?.id}`)
}
const ranOn = (at: number, hours: number) => stack.insertRun(user.id, { from: at, until: at + hours * HOUR })

test('upward within a period: the whole cycle gets the larger plan’s hours', async () => {
  const { anchor } = await buy('basic')
  await ranOn(anchor + DAY, 10)
  stack.clock.now = anchor + 5 * DAY
  await change('premium')
  await hear()
  await stack.passTime(anchor + 32 * DAY, DAY)
  expect(await listBills()).toEqual([['premium', 30, 0]])
})

test('downward within a period: what was free stays free, and the next cycle gets the smaller plan’s hours', async () => {
  const { anchor } = await buy('premium')
  await ranOn(anchor + DAY, 20)
  await ranOn(anchor + 40 * DAY, 20)
  stack.clock.now = anchor + 5 * DAY
  await change('basic')
  await hear()
  await hear()
  const { subscription, monthlyUsage } = toSummary(await getUsage(stack.ctx, user.id))
  expect([subscription?.plan_type, subscription?.hours, monthlyUsage.amountOwedDollars]).toEqual(['basic', 30, 0])
  await stack.passTime(anchor + 64 * DAY, DAY)
  expect(await listBills()).toEqual([
    ['premium', 30, 0],
    ['basic', 5, 2625],
  ])
})

test('up and down again: gets the largest', async () => {
  const { anchor } = await buy('basic')
  await ranOn(anchor + DAY, 20)
  for (const [day, planType] of [
    [5, 'premium'],
    [6, 'basic'],
  ] as const) {
    stack.clock.now = anchor + day * DAY
    await change(planType)
    await hear()
  }
  await stack.passTime(anchor + 32 * DAY, DAY)
  expect(await listBills()).toEqual([['premium', 30, 0]])
})

test("downward at the boundary: the new period has none of the old plan's hours", async () => {
  const { anchor } = await buy('premium')
  await stack.passTime(anchor + 31 * DAY - HOUR, 6 * HOUR)
  await ranOn(anchor + 33 * DAY, 20)
  // Nobody has asked since the boundary; the change arrives with the renewal.
  stack.clock.now = anchor + 31 * DAY + 1000
  await change('basic')
  await hear()
  await stack.passTime(anchor + 64 * DAY, DAY)
  expect(await listBills()).toEqual([
    ['premium', 30, 0],
    ['basic', 5, 2625],
  ])
})
