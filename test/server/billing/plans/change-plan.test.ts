import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { planPayments } from '../../../../db/schema/billing.ts'
import { changePlan } from '../../../../src/server/billing/plans/change-plan.ts'
import { openPlanOwner } from '../../../../testing/people/plan-owner.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'

const MINUTE = 60_000
const HOUR = 3_600_000
const DAY = 24 * HOUR
/** January 10 to February 10. */
const PERIOD = 31 * DAY
const anchor = Date.UTC(2028, 0, 10)

const { stack, owner, another, plan, buy, quote, change, keep, hear, ranOn, subscription, listBills, charged } =
  await openPlanOwner(anchor)

test('an upgrade charges the quoted difference and includes the same share of the hours', async () => {
  await buy('basic')
  stack.clock.now = anchor + PERIOD / 4
  const quoted = await quote('premium')
  expect(quoted).toMatchObject({ kind: 'upgrade', cents: 16_875, hours: 23.75, periodEnd: anchor + PERIOD })
  stack.clock.now += 10 * MINUTE
  await change('premium', quoted.quotedAt)
  expect(await charged()).toEqual([2500, 16_875])
  expect(await subscription()).toMatchObject({
    plan_type: 'premium',
    hours: 23.75,
    next_plan_type: 'premium',
    next_hours: 30,
  })
  await ranOn(anchor + DAY, 23.75)
  await ranOn(anchor + PERIOD + DAY, 31)
  await stack.passTime(anchor + 60 * DAY + HOUR, DAY)
  expect(await listBills()).toEqual([
    ['premium', 23.75, 0],
    ['premium', 30, 175],
  ])
  expect((await charged()).slice(2)).toEqual([25_000, 25_000])
  // A free hour costs as much as at any other moment: nobody gains by waiting.
  const fees = await stack.db.select().from(planPayments).where(eq(planPayments.userId, owner().id))
  expect(fees.map((fee) => [fee.planType, fee.amountCents]).sort()).toEqual([
    ['basic', 2500],
    ['premium', 16_875],
    ['premium', 25_000],
  ])
})

test('an upgrade in the last minute includes no more than it charges', async () => {
  await buy('basic')
  await ranOn(anchor + DAY, 25)
  stack.clock.now = anchor + PERIOD - MINUTE
  await change('premium')
  expect((await charged())[1]).toBe(1)
  await stack.passTime(anchor + PERIOD + DAY, HOUR)
  // 20 hours less 36 seconds, which rounding up to a hundredth of an hour gives away.
  expect(await listBills()).toEqual([['premium', 5.01, 3498]])
})

test('a period that was over before the upgrade keeps its own plan, even if its bill comes later', async () => {
  await buy('basic')
  await ranOn(anchor + DAY, 25)
  // Its bill isn't written yet.
  stack.clock.now = anchor + PERIOD + 1000
  await change('premium')
  await stack.passTime(anchor + PERIOD + DAY, HOUR)
  expect(await listBills()).toEqual([['basic', 5, 3500]])
})

test('up again right after a downgrade waits for the bill of the period before, which keeps its hours', async () => {
  await buy('basic')
  stack.clock.now = anchor + PERIOD / 4
  await change('premium')
  await change('basic')
  await ranOn(anchor + DAY, 23.75)
  stack.clock.now = anchor + PERIOD + 1000
  await hear()
  expect(await subscription()).toMatchObject({ plan_type: 'basic', hours: 5 })
  const wait = { code: 'conflict', message: expect.stringMatching(/still writing your last bill/) }
  await expect(quote('premium')).rejects.toMatchObject(wait)
  await expect(change('premium')).rejects.toMatchObject(wait)
  await stack.passTime(anchor + PERIOD + 5 * MINUTE, MINUTE)
  await change('premium')
  expect(await listBills()).toEqual([['premium', 23.75, 0]])
  expect(await subscription()).toMatchObject({ plan_type: 'premium', hours: 30 })
})

test('up, down, and up again within a period charges once and includes its hours once', async () => {
  await buy('basic')
  stack.clock.now = anchor + PERIOD / 2
  await change('premium')
  await change('basic')
  expect(await subscription()).toMatchObject({
    plan_type: 'premium',
    hours: 17.5,
    next_plan_type: 'basic',
    next_hours: 5,
  })
  await keep()
  expect(await subscription()).toMatchObject({ plan_type: 'premium', hours: 17.5, next_plan_type: 'premium' })
  await change('basic')
  await ranOn(anchor + DAY, 18.5)
  await ranOn(anchor + PERIOD + DAY, 6)
  await stack.passTime(anchor + 61 * DAY, DAY)
  expect(await listBills()).toEqual([
    ['premium', 17.5, 175],
    ['basic', 5, 175],
  ])
  // The next upgrade counts from its own period.
  stack.clock.now = anchor + 61 * DAY
  await change('premium')
  expect((await plan())?.upgradedAt).toBe(stack.clock.now)
  expect((await charged()).slice(0, 3)).toEqual([2500, 11_250, 2500])
})

test('two clicks on one quote charge once, at once or one after the other', async () => {
  await buy('basic')
  const { quotedAt } = await quote('premium')
  const clicks = await Promise.allSettled([change('premium', quotedAt), change('premium', quotedAt)])
  expect(clicks.some(({ status }) => status === 'fulfilled')).toBe(true)
  expect(await charged()).toEqual([2500, 22_500])
  await expect(change('premium', quotedAt)).rejects.toMatchObject({
    code: 'invalid',
    message: "You're already on Premium.",
  })
})

test('a lost answer counts as done, and we find within a minute what died before the answer', async () => {
  await buy('basic')
  // Three reads and the price come first.
  stack.stripe.inject('lost_response', 1, 3)
  await change('premium')
  expect([await charged(), (await subscription())?.plan_type]).toEqual([[2500, 22_500], 'premium'])

  await another()
  await buy('basic')
  // Done at Stripe; neither this process nor a webhook says so.
  stack.stripe.inject('lost_response', 1, 3)
  stack.stripe.inject('error', 1)
  await expect(change('premium')).rejects.toMatchObject({ code: 'unavailable' })
  expect(inBrief(stack.takeLines())).toEqual(['plan_change_unknown unavailable'])
  expect((await subscription())?.plan_type).toBe('basic')
  await stack.passTime(stack.clock.now + MINUTE, MINUTE)
  expect([await charged(), (await subscription())?.plan_type]).toEqual([[2500, 22_500], 'premium'])
})

test('a price is good for ten minutes, and naming an earlier moment or another period gains nothing', async () => {
  await buy('basic')
  stack.clock.now += DAY
  const refused = { code: 'conflict', message: expect.stringContaining('The price has changed') }
  await expect(change('premium', stack.clock.now - 10 * MINUTE - 1)).rejects.toMatchObject(refused)
  await expect(change('premium', stack.clock.now + 1)).rejects.toMatchObject(refused)
  stack.clock.now = anchor + PERIOD - MINUTE
  const { quotedAt } = await quote('premium')
  stack.clock.now = anchor + PERIOD
  await expect(change('premium', quotedAt)).rejects.toMatchObject(refused)
  expect(await charged()).toEqual([2500, 2500])
})

test('late, doubled, and reordered webhooks change nothing', async () => {
  await buy('basic')
  stack.clock.now = anchor + PERIOD / 2
  await change('premium')
  const before = await subscription()
  await hear()
  await hear()
  expect(await subscription()).toEqual(before)
  stack.clock.now = anchor + PERIOD + HOUR
  await hear()
  expect(await subscription()).toMatchObject({ plan_type: 'premium', hours: 30 })
  await stack.passTime(anchor + PERIOD + 2 * DAY, HOUR)
  expect(await listBills()).toEqual([['premium', 17.5, 0]])
})

test('refuses a trial, a granted plan, an unpaid plan, and plans that are not for sale', async () => {
  await expect(change('premium')).rejects.toMatchObject({ code: 'not_found' })
  await stack.insertPlan(owner().id)
  await expect(change('premium')).rejects.toMatchObject({
    code: 'not_offered',
    message: expect.stringContaining('sales'),
  })

  await another()
  await buy('basic', 'declined_later')
  stack.clock.now = anchor + PERIOD
  await hear()
  await expect(change('premium')).rejects.toMatchObject({ code: 'plan_unpaid', page: '/subscriptions/pay' })
  const closed = { ...stack.ctx, config: { ...stack.ctx.config, plansForSale: false } }
  await expect(changePlan(closed, owner(), { planType: 'premium', quotedAt: null })).rejects.toMatchObject({
    code: 'not_offered',
  })
})

test('changes only to a plan with a price', async () => {
  await buy('basic')
  for (const planType of ['enterprise', 'demo', 'gold', ''])
    for (const ask of [quote, change])
      await expect(ask(planType)).rejects.toMatchObject({
        code: 'invalid',
        message: 'Please choose the Basic or the Premium plan.',
      })
})

test('allows twenty changes an hour, and thirty quotes', async () => {
  await buy('premium')
  for (let n = 0; n < 20; n++) await keep()
  await expect(keep()).rejects.toMatchObject({ code: 'too_many' })
  await expect(change('basic')).rejects.toMatchObject({ code: 'too_many' })
  for (let n = 0; n < 30; n++) await quote('basic')
  await expect(quote('basic')).rejects.toMatchObject({ code: 'too_many' })
})
