import { asc, eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bills, plans } from '../../../../db/schema.ts'
import type { User } from '../../../../src/domain/wire.ts'
import { getUsage, toSummary } from '../../../../src/server/billing/bills/usage.ts'
import { createCheckout } from '../../../../src/server/billing/plans/checkout.ts'
import { syncPlan } from '../../../../src/server/billing/plans/plan-sync.ts'
import { type BillingStack, openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Someone changes a subscription's price in Stripe's dashboard. */
describe('a plan changed at Stripe', () => {
  let stack: BillingStack
  let user: User
  beforeAll(async () => {
    stack = await openBillingStack(Date.UTC(2028, 0, 10))
  })
  beforeEach(async () => {
    await stack.forgetEverybody()
    user = await stack.newUser()
  })
  afterAll(() => stack.close())
  afterEach(() => expect(inBrief(stack.takeLines())).toEqual([]))

  const plan = async () => (await stack.db.select().from(plans).where(eq(plans.userId, user.id)))[0]
  const stripeId = async () => (await plan())?.stripeSubscriptionId ?? ''

  async function buy(planType: string) {
    await stack.press((await createCheckout(stack.ctx, user, { planType })).url)
    await stack.passTime(stack.clock.now + HOUR, HOUR)
    return (await plan())?.anchor ?? 0
  }
  async function change(planType: string) {
    const { data } = await stack.atStripe<{ data: { id: string }[] }>(
      `prices?lookup_keys[]=proving_ground_${planType}_monthly`,
    )
    await stack.atStripe(`subscriptions/${await stripeId()}`, `items[0][price]=${data[0]?.id}`)
  }
  const notice = async () => syncPlan(stack.ctx, await stripeId())
  const ranOn = (at: number, hours: number) => stack.insertRun(user.id, { from: at, until: at + hours * HOUR })
  const listBills = async () => {
    const records = await stack.db.select().from(bills).where(eq(bills.userId, user.id)).orderBy(asc(bills.periodStart))
    return records.map((r) => [r.planType, r.includedHours, r.amountCents])
  }

  test('upward within a period: the whole cycle gets the larger plan’s hours', async () => {
    const anchor = await buy('basic')
    await ranOn(anchor + DAY, 10)
    stack.clock.now = anchor + 5 * DAY
    await change('premium')
    await notice()
    await stack.passTime(anchor + 32 * DAY, DAY)
    expect(await listBills()).toEqual([['premium', 30, 0]])
  })

  test('downward within a period: what was free stays free, and the next cycle gets the smaller plan’s hours', async () => {
    const anchor = await buy('premium')
    await ranOn(anchor + DAY, 20)
    await ranOn(anchor + 40 * DAY, 20)
    stack.clock.now = anchor + 5 * DAY
    await change('basic')
    await notice()
    await notice()
    const { subscription, monthlyUsage } = toSummary(await getUsage(stack.ctx, user.id))
    expect([subscription?.plan_type, subscription?.hours, monthlyUsage.amountOwedDollars]).toEqual(['basic', 30, 0])
    await stack.passTime(anchor + 64 * DAY, DAY)
    expect(await listBills()).toEqual([
      ['premium', 30, 0],
      ['basic', 5, 2625],
    ])
  })

  test('up and down again: gets the largest', async () => {
    const anchor = await buy('basic')
    await ranOn(anchor + DAY, 20)
    for (const [day, planType] of [
      [5, 'premium'],
      [6, 'basic'],
    ] as const) {
      stack.clock.now = anchor + day * DAY
      await change(planType)
      await notice()
    }
    await stack.passTime(anchor + 32 * DAY, DAY)
    expect(await listBills()).toEqual([['premium', 30, 0]])
  })

  test("downward at the boundary: the new period has none of the old plan's hours", async () => {
    const anchor = await buy('premium')
    await stack.passTime(anchor + 31 * DAY - HOUR, 6 * HOUR)
    await ranOn(anchor + 33 * DAY, 20)
    // Nobody has asked since the boundary; the change arrives with the renewal.
    stack.clock.now = anchor + 31 * DAY + 1000
    await change('basic')
    await notice()
    await stack.passTime(anchor + 64 * DAY, DAY)
    expect(await listBills()).toEqual([
      ['premium', 30, 0],
      ['basic', 5, 2625],
    ])
  })
})
