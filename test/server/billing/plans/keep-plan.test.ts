import { expect, test } from 'vitest'
import { changePlan, quoteChange } from '../../../../src/server/billing/plans/change-plan.ts'
import { syncPlan } from '../../../../src/server/billing/plans/plan-sync.ts'
import { openPlanOwner } from '../../../../testing/people/plan-owner.ts'

const MINUTE = 60_000
const HOUR = 3_600_000
const DAY = 24 * HOUR
/** January 10 to February 10. */
const PERIOD = 31 * DAY
const anchor = Date.UTC(2028, 0, 10)

const {
  stack,
  owner,
  another,
  plan,
  stripeId,
  buy,
  quote,
  change,
  keep,
  cancel,
  hear,
  ranOn,
  subscription,
  listBills,
  listPlans,
  charged,
  says,
} = await openPlanOwner(anchor)
const schedules = () => stack.stripe.calls().filter(({ path }) => path.startsWith('/v1/subscription_schedules')).length

test('a downgrade waits for the next period, with nothing charged or refunded before', async () => {
  await buy('premium')
  stack.clock.now = anchor + 5 * DAY
  expect(await quote('basic')).toMatchObject({ kind: 'downgrade', cents: null, hours: 30 })
  await change('basic')
  await change('basic')
  expect([await charged(), await subscription()]).toMatchObject([
    [25_000],
    { plan_type: 'premium', hours: 30, next_plan_type: 'basic', next_hours: 5, cancel_at_period_end: false },
  ])
  await ranOn(anchor + 6 * DAY, 30)
  // We haven't heard about the renewal yet when they change their mind, but the change has happened.
  stack.clock.now = anchor + PERIOD
  const changed = { code: 'conflict', message: 'Your plan has just changed. Please look at it again.' }
  await expect(keep()).rejects.toMatchObject(changed)
  expect(await subscription()).toMatchObject({ plan_type: 'basic', hours: 5, next_plan_type: 'basic' })
  await stack.passTime(anchor + PERIOD + DAY, HOUR)
  expect([await charged(), await listBills()]).toEqual([[25_000, 2500], [['premium', 30, 0]]])
})

test('a second click on the smaller plan takes nothing back, and two at once never blame Stripe', async () => {
  await buy('premium')
  await change('basic')
  const calls = schedules()
  await change('basic')
  expect(schedules()).toBe(calls)
  await keep()
  const clicks = await Promise.allSettled([change('basic'), change('basic')])
  const refused = clicks.flatMap((one) => (one.status === 'rejected' ? one.reason.message : []))
  expect(refused).toEqual(refused.map(() => 'Your plan has just changed. Please look at it again.'))
  expect(refused.length).toBeLessThan(2)
  await hear()
  expect(await subscription()).toMatchObject({ next_plan_type: 'basic' })
})

test('only a plan that becomes smaller has a date on which it changes', async () => {
  const next = async () => (await listPlans()).map(({ nextPlanType, nextPlanAt }) => [nextPlanType, nextPlanAt])
  await buy('premium')
  expect(await next()).toEqual([[null, null]])
  await change('basic')
  await hear()
  expect(await next()).toEqual([['basic', stack.clock.now + PERIOD]])
  await keep()
  expect(await next()).toEqual([[null, null]])
})

test('two clicks at once take a change back, and cancel a plan that was set to change', async () => {
  await buy('premium')
  await change('basic')
  await Promise.all([keep(), keep()])
  expect(await subscription()).toMatchObject({ next_plan_type: 'premium' })
  await change('basic')
  await Promise.all([cancel(), cancel()])
  expect(await subscription()).toMatchObject({ cancel_at_period_end: true, next_plan_type: null })
})

test('while Stripe is late with a renewal, a change waits for it', async () => {
  await buy('basic')
  const found = await stack.ctx.payments.findSubscription(await stripeId())
  const late = says(found)
  stack.clock.now = anchor + PERIOD
  const renewing = { code: 'conflict', message: expect.stringContaining('renewing your plan right now') }
  await expect(quoteChange(late, owner(), 'premium')).rejects.toMatchObject(renewing)
  await expect(changePlan(late, owner(), { planType: 'premium', quotedAt: null })).rejects.toMatchObject(renewing)
  await change('premium')
  expect(await charged()).toEqual([2500, 2500, 22_500])
})

test('ending a plan twice is no error', async () => {
  await buy('basic')
  const id = await stripeId()
  await stack.ctx.payments.cancelNow(id)
  await stack.ctx.payments.cancelNow(id)
  expect(await stack.ctx.payments.findSubscription(id)).toMatchObject({ status: 'canceled' })
})

test('a downgrade that Stripe makes late, after we asked, leaves the new period only its own hours', async () => {
  await buy('premium')
  await change('basic')
  const id = await stripeId()
  const stale = await stack.ctx.payments.findSubscription(id)
  stack.clock.now = anchor + PERIOD + 1000
  await syncPlan(says(stale), id)
  expect(await plan()).toMatchObject({ planType: 'premium', syncedAt: stack.clock.now })
  stack.clock.now += MINUTE
  await hear()
  expect(await subscription()).toMatchObject({ plan_type: 'basic', hours: 5 })
  await ranOn(anchor + DAY, 31)
  await ranOn(anchor + PERIOD + DAY, 12)
  await stack.passTime(anchor + 60 * DAY + HOUR, DAY)
  expect(await listBills()).toEqual([
    ['premium', 30, 175],
    ['basic', 5, 1225],
  ])
})

test('dying between the two calls of a downgrade changes nothing; the next try and a cancellation get through', async () => {
  await buy('premium')
  // The schedule exists, its second call failed.
  stack.stripe.inject('error', 1, 3)
  await expect(change('basic')).rejects.toMatchObject({ code: 'unavailable' })
  expect(schedules()).toBeGreaterThan(0)
  expect(await subscription()).toMatchObject({ plan_type: 'premium', next_plan_type: 'premium' })
  await cancel()
  expect(await subscription()).toMatchObject({ cancel_at_period_end: true, next_plan_type: null })
  await expect(change('basic')).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('Keep it'),
  })
  await keep()
  await change('basic')
  expect(await subscription()).toMatchObject({ cancel_at_period_end: false, next_plan_type: 'basic' })
  // Canceling also undoes the change.
  await cancel()
  stack.clock.now = anchor + PERIOD
  await hear()
  expect([await charged(), (await plan())?.status]).toEqual([[25_000], 'canceled'])
})

test('a cancelled plan is kept with one click, until it has ended', async () => {
  await buy('basic')
  await cancel()
  await keep()
  await keep()
  expect(await subscription()).toMatchObject({ cancel_at_period_end: false, next_plan_type: 'basic' })
  await cancel()
  stack.clock.now = anchor + PERIOD
  await expect(keep()).rejects.toMatchObject({ code: 'not_found' })
  await hear()
  expect((await plan())?.status).toBe('canceled')

  await another()
  await expect(keep()).rejects.toMatchObject({ code: 'not_found' })
  await stack.insertPlan(owner().id)
  await cancel()
  await keep()
  expect(await plan()).toMatchObject({ cancelAtPeriodEnd: false, cancelAt: null, endedAt: null })
})

test('upgrading a cancelled plan keeps it', async () => {
  await buy('basic')
  await cancel()
  await change('premium')
  expect(await subscription()).toMatchObject({ plan_type: 'premium', cancel_at_period_end: false })
})
