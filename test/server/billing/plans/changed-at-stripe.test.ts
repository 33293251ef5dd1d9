import { expect, test } from 'vitest'
import { openPlanOwner } from '../../../../testing/people/plan-owner.ts'

/** Someone changes a subscription's price in Stripe's dashboard. */

const HOUR = 3_600_000
const DAY = 24 * HOUR

const { stack, stripeId, buy, hear, ranOn, summary, listBills } = await openPlanOwner(Date.UTC(2028, 0, 10))

async function change(planType: string) {
  const { data } = await stack.atStripe<{ data: { id: string }[] }>(
    `prices?lookup_keys[]=proving_ground_${planType}_monthly`,
  )
  await stack.atStripe(`subscriptions/${await stripeId()}`, `items[0][price]=${data[0]?.id}`)
}

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
  const { subscription, monthlyUsage } = await summary()
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
