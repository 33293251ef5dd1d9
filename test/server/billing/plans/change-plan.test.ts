import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { bills, planPayments, plans } from '../../../../db/schema.ts'
import { upgradeOf } from '../../../../src/domain/money/plan-words.ts'
import type { User } from '../../../../src/domain/wire.ts'
import { planPaymentsQuery } from '../../../../src/server/billing/bills/plan-payments.ts'
import { getUsage, toSummary } from '../../../../src/server/billing/bills/usage.ts'
import { cancelPlan } from '../../../../src/server/billing/plans/cancel-plan.ts'
import { changePlan, keepPlan, quoteChange } from '../../../../src/server/billing/plans/change-plan.ts'
import { createCheckout, settleCheckout } from '../../../../src/server/billing/plans/checkout.ts'
import { findPlanPayPage } from '../../../../src/server/billing/plans/pay-plan.ts'
import { checkPlan, syncPlan } from '../../../../src/server/billing/plans/plan-sync.ts'
import { type BillingStack, openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** January 10 to February 10. */
const PERIOD = 31 * DAY

describe('a person changes their plan', () => {
  let stack: BillingStack
  let user: User
  let anchor: number
  beforeAll(async () => {
    stack = await openBillingStack(Date.UTC(2028, 0, 10))
  })
  beforeEach(async () => {
    await stack.forgetEverybody()
    stack.stripe.heal()
    stack.clock.now = Date.UTC(2028, 0, 10)
    user = await stack.newUser()
  })
  afterAll(() => stack.close())
  afterEach(() => expect(inBrief(stack.takeLines())).toEqual([]))

  const listPlans = () => stack.db.select().from(plans).where(eq(plans.userId, user.id))
  const plan = async () => (await listPlans())[0]
  const summary = async () => toSummary(await getUsage(stack.ctx, user.id)).subscription
  const ranOn = (at: number, hours: number) => stack.insertRun(user.id, { from: at, until: at + hours * HOUR })
  const listBills = async () => {
    const rows = await stack.db.select().from(bills).where(eq(bills.userId, user.id)).orderBy(bills.periodStart)
    return rows.map((row) => [row.planType, row.includedHours, row.amountCents])
  }

  async function buy(planType: string, card?: 'declined_later' | 'bank_asks') {
    await stack.press((await createCheckout(stack.ctx, user, { planType })).url, card)
    await settleCheckout(stack.ctx, user.id)
    anchor = stack.clock.now
  }
  const change = (planType: string, quotedAt: number | null = null) =>
    changePlan(stack.ctx, user, { planType, quotedAt })
  /** A fresh look at Stripe, as after a webhook. */
  const hear = async () => syncPlan(stack.ctx, (await plan())?.stripeSubscriptionId ?? '')

  /** The plan's invoices at Stripe, oldest first, in cents. */
  async function charged() {
    const id = (await plan())?.stripeSubscriptionId
    const { data } = await stack.atStripe<{ data: { total: number; status: string }[] }>(`invoices?subscription=${id}`)
    return data.map(({ total }) => total).reverse()
  }
  const schedules = async () => {
    const calls = stack.stripe.calls().filter(({ path }) => path.startsWith('/v1/subscription_schedules'))
    return calls.length
  }

  test('an upgrade charges the quoted difference and includes the same share of the hours', async () => {
    await buy('basic')
    stack.clock.now = anchor + PERIOD / 4
    const quote = await quoteChange(stack.ctx, user, 'premium')
    expect(quote).toMatchObject({ kind: 'upgrade', cents: 16_875, hours: 23.75, periodEnd: anchor + PERIOD })
    stack.clock.now += 10 * MINUTE
    await change('premium', quote.quotedAt)
    expect(await charged()).toEqual([2500, 16_875])
    expect(await summary()).toMatchObject({
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
    const fees = await stack.db.select().from(planPayments).where(eq(planPayments.userId, user.id))
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
    expect(await summary()).toMatchObject({ plan_type: 'basic', hours: 5 })
    const wait = { code: 'conflict', message: expect.stringMatching(/still writing your last bill/) }
    await expect(quoteChange(stack.ctx, user, 'premium')).rejects.toMatchObject(wait)
    await expect(change('premium')).rejects.toMatchObject(wait)
    await stack.passTime(anchor + PERIOD + 5 * MINUTE, MINUTE)
    await change('premium')
    expect(await listBills()).toEqual([['premium', 23.75, 0]])
    expect(await summary()).toMatchObject({ plan_type: 'premium', hours: 30 })
  })

  test('up, down, and up again within a period charges once and includes its hours once', async () => {
    await buy('basic')
    stack.clock.now = anchor + PERIOD / 2
    await change('premium')
    await change('basic')
    expect(await summary()).toMatchObject({ plan_type: 'premium', hours: 17.5, next_plan_type: 'basic', next_hours: 5 })
    await keepPlan(stack.ctx, user)
    expect(await summary()).toMatchObject({ plan_type: 'premium', hours: 17.5, next_plan_type: 'premium' })
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
    const { quotedAt } = await quoteChange(stack.ctx, user, 'premium')
    const clicks = await Promise.allSettled([change('premium', quotedAt), change('premium', quotedAt)])
    expect(clicks.some(({ status }) => status === 'fulfilled')).toBe(true)
    expect(await charged()).toEqual([2500, 22_500])
    await expect(change('premium', quotedAt)).rejects.toMatchObject({
      code: 'invalid',
      message: "You're already on Premium.",
    })
  })

  test('a declined card changes nothing and says so; another card can pay the same quote at once, and pays once', async () => {
    await buy('basic', 'declined_later')
    const { quotedAt } = await quoteChange(stack.ctx, user, 'premium')
    await expect(change('premium', quotedAt)).rejects.toMatchObject({
      code: 'payment_required',
      message: expect.stringContaining("Your card was declined, so nothing changed and you weren't charged."),
    })
    expect([await charged(), (await summary())?.plan_type, (await plan())?.upgradedAt]).toEqual([[2500], 'basic', null])
    const portal = await stack.ctx.payments.createPortal({
      customerId: (await stack.atStripe<{ customer: string }>(`subscriptions/${(await plan())?.stripeSubscriptionId}`))
        .customer,
      returnUrl: 'http://site.test/',
    })
    await stack.press(portal)
    stack.clock.now += 1000
    await Promise.all([change('premium', quotedAt), change('premium', quotedAt)])
    expect(await charged()).toEqual([2500, 22_500])
  })

  const confirm = { code: 'payment_required', message: expect.stringContaining('confirm'), page: '/subscriptions/pay' }
  const fees = async () => {
    await checkPlan(stack.ctx, (await plan())?.stripeSubscriptionId ?? '')
    const rows = await planPaymentsQuery(stack.ctx, user.id)
    return rows.map(({ amountCents, status }) => [amountCents, status]).sort()
  }

  test('a bank that asks: nothing changes until the payment is confirmed, then the quoted price and hours count', async () => {
    await buy('basic', 'bank_asks')
    await cancelPlan(stack.ctx, user)
    stack.clock.now = anchor + PERIOD / 4
    const { quotedAt } = await quoteChange(stack.ctx, user, 'premium')
    // Both clicks open one invoice.
    const clicks = await Promise.allSettled([change('premium', quotedAt), change('premium', quotedAt)])
    expect(clicks).toMatchObject([
      { status: 'rejected', reason: confirm },
      { status: 'rejected', reason: confirm },
    ])
    await expect(change('premium')).rejects.toMatchObject(confirm)
    await expect(quoteChange(stack.ctx, user, 'premium')).rejects.toMatchObject(confirm)
    expect(await charged()).toEqual([2500, 16_875])
    await stack.passTime(stack.clock.now + DAY / 2, DAY / 4)
    // Nobody owes it, and it still ends.
    expect([await fees(), await summary(), await plan()]).toMatchObject([
      [[2500, 'paid']],
      { plan_type: 'basic', hours: 5, cancel_at_period_end: true },
      { upgradedAt: null, upgradeUntil: quotedAt + 23 * HOUR },
    ])
    const other = await stack.newUser()
    expect(await findPlanPayPage(stack.ctx, other.id)).toEqual({ page: null, upgrades: false })
    const { page, upgrades } = await findPlanPayPage(stack.ctx, user.id)
    expect(upgrades).toBe(true)
    await stack.press(page)
    await hear()
    await hear()
    expect([await summary(), await plan()]).toMatchObject([
      { plan_type: 'premium', hours: 23.75, next_hours: 30, cancel_at_period_end: false },
      { upgradedAt: quotedAt, upgradedFrom: 'basic', upgradeUntil: null },
    ])
    await stack.passTime(anchor + PERIOD + HOUR, DAY)
    expect([await fees(), await listBills()]).toEqual([
      [
        [16_875, 'paid'],
        [2500, 'paid'],
        [25_000, 'paid'],
      ],
      [['premium', 23.75, 0]],
    ])
  })

  test('an upgrade that nobody confirms lapses after 23 hours, charges nothing, and can be tried again', async () => {
    await buy('basic', 'bank_asks')
    stack.clock.now = anchor + 5 * DAY
    await expect(change('premium')).rejects.toMatchObject(confirm)
    const lapsesAt = stack.clock.now + 23 * HOUR
    const { page } = await findPlanPayPage(stack.ctx, user.id)
    stack.clock.now = lapsesAt - 1000
    expect(upgradeOf((await plan()) ?? null, stack.clock.now)).toEqual({ until: lapsesAt, waits: true })
    // Found without a webhook, within a minute.
    await stack.passTime(lapsesAt + MINUTE, MINUTE)
    expect((await plan())?.syncedAt).toBeGreaterThanOrEqual(lapsesAt)
    await stack.press(page)
    await hear()
    expect([await fees(), await summary(), upgradeOf((await plan()) ?? null, stack.clock.now)]).toMatchObject([
      [[2500, 'paid']],
      { plan_type: 'basic', hours: 5 },
      { until: lapsesAt, waits: false },
    ])
    expect((await findPlanPayPage(stack.ctx, user.id)).page).toBeNull()
    // A replaced card upgrades at once, from its own moment.
    const { customer } = await stack.atStripe<{ customer: string }>(
      `subscriptions/${(await plan())?.stripeSubscriptionId}`,
    )
    await stack.press(await stack.ctx.payments.createPortal({ customerId: customer, returnUrl: 'http://site.test/' }))
    await change('premium')
    expect(await plan()).toMatchObject({ planType: 'premium', upgradedAt: stack.clock.now, upgradeUntil: null })
  })

  test('a voided invoice ends the wait at once, and an answer that got lost leaves it to confirm', async () => {
    await buy('basic', 'bank_asks')
    // Three reads and the price come first; then the refusal, the metadata, and the change that waits.
    stack.stripe.inject('lost_response', 1, 5)
    await expect(change('premium')).rejects.toMatchObject(confirm)
    expect((await charged()).length).toBe(2)
    const { data } = await stack.atStripe<{ data: { id: string }[] }>('invoices?status=open')
    await stack.atStripe(`invoices/${data[0]?.id}/void`, '')
    stack.clock.now += HOUR
    await hear()
    expect([await plan(), await fees()]).toMatchObject([{ upgradeUntil: stack.clock.now }, [[2500, 'paid']]])
  })

  test('an upgrade that somebody voids before our look is not answered as done', async () => {
    await buy('basic', 'bank_asks')
    const { payments } = stack.ctx
    const upgrade = payments.upgrade.bind(payments)
    vi.spyOn(payments, 'upgrade').mockImplementationOnce(async (...call) => {
      await upgrade(...call)
      const { data } = await stack.atStripe<{ data: { id: string }[] }>('invoices?status=open')
      await stack.atStripe(`invoices/${data[0]?.id}/void`, '')
    })
    await expect(change('premium')).rejects.toMatchObject({
      code: 'conflict',
      message: 'Your plan has just changed. Please look at it again.',
    })
    expect([await plan(), await fees()]).toMatchObject([{ planType: 'basic' }, [[2500, 'paid']]])
  })

  test('a lost answer counts as done, and we find within a minute what died before the answer', async () => {
    await buy('basic')
    // Three reads and the price come first.
    stack.stripe.inject('lost_response', 1, 3)
    await change('premium')
    expect([await charged(), (await summary())?.plan_type]).toEqual([[2500, 22_500], 'premium'])

    user = await stack.newUser()
    await buy('basic')
    // Done at Stripe; neither this process nor a webhook says so.
    stack.stripe.inject('lost_response', 1, 3)
    stack.stripe.inject('error', 1)
    await expect(change('premium')).rejects.toMatchObject({ code: 'unavailable' })
    expect(inBrief(stack.takeLines())).toEqual(['plan_change_unknown unavailable'])
    expect((await summary())?.plan_type).toBe('basic')
    await stack.passTime(stack.clock.now + MINUTE, MINUTE)
    expect([await charged(), (await summary())?.plan_type]).toEqual([[2500, 22_500], 'premium'])
  })

  test('a price is good for ten minutes, and naming an earlier moment or another period gains nothing', async () => {
    await buy('basic')
    stack.clock.now += DAY
    const refused = { code: 'conflict', message: expect.stringContaining('The price has changed') }
    await expect(change('premium', stack.clock.now - 10 * MINUTE - 1)).rejects.toMatchObject(refused)
    await expect(change('premium', stack.clock.now + 1)).rejects.toMatchObject(refused)
    stack.clock.now = anchor + PERIOD - MINUTE
    const { quotedAt } = await quoteChange(stack.ctx, user, 'premium')
    stack.clock.now = anchor + PERIOD
    await expect(change('premium', quotedAt)).rejects.toMatchObject(refused)
    expect(await charged()).toEqual([2500, 2500])
  })

  test('late, doubled, and reordered webhooks change nothing', async () => {
    await buy('basic')
    stack.clock.now = anchor + PERIOD / 2
    await change('premium')
    const before = await summary()
    await hear()
    await hear()
    expect(await summary()).toEqual(before)
    stack.clock.now = anchor + PERIOD + HOUR
    await hear()
    expect(await summary()).toMatchObject({ plan_type: 'premium', hours: 30 })
    await stack.passTime(anchor + PERIOD + 2 * DAY, HOUR)
    expect(await listBills()).toEqual([['premium', 17.5, 0]])
  })

  test('a downgrade waits for the next period, with nothing charged or refunded before', async () => {
    await buy('premium')
    stack.clock.now = anchor + 5 * DAY
    expect(await quoteChange(stack.ctx, user, 'basic')).toMatchObject({ kind: 'downgrade', cents: null, hours: 30 })
    await change('basic')
    await change('basic')
    expect([await charged(), await summary()]).toMatchObject([
      [25_000],
      { plan_type: 'premium', hours: 30, next_plan_type: 'basic', next_hours: 5, cancel_at_period_end: false },
    ])
    await ranOn(anchor + 6 * DAY, 30)
    // We haven't heard about the renewal yet when they change their mind, but the change has happened.
    stack.clock.now = anchor + PERIOD
    const changed = { code: 'conflict', message: 'Your plan has just changed. Please look at it again.' }
    await expect(keepPlan(stack.ctx, user)).rejects.toMatchObject(changed)
    expect(await summary()).toMatchObject({ plan_type: 'basic', hours: 5, next_plan_type: 'basic' })
    await stack.passTime(anchor + PERIOD + DAY, HOUR)
    expect([await charged(), await listBills()]).toEqual([[25_000, 2500], [['premium', 30, 0]]])
  })

  test('a second click on the smaller plan takes nothing back, and two at once never blame Stripe', async () => {
    await buy('premium')
    await change('basic')
    const calls = await schedules()
    await change('basic')
    expect(await schedules()).toBe(calls)
    await keepPlan(stack.ctx, user)
    const clicks = await Promise.allSettled([change('basic'), change('basic')])
    const refused = clicks.flatMap((one) => (one.status === 'rejected' ? one.reason.message : []))
    expect(refused).toEqual(refused.map(() => 'Your plan has just changed. Please look at it again.'))
    expect(refused.length).toBeLessThan(2)
    await hear()
    expect(await summary()).toMatchObject({ next_plan_type: 'basic' })
  })

  test('two clicks at once take a change back, and cancel a plan that was set to change', async () => {
    await buy('premium')
    await change('basic')
    await Promise.all([keepPlan(stack.ctx, user), keepPlan(stack.ctx, user)])
    expect(await summary()).toMatchObject({ next_plan_type: 'premium' })
    await change('basic')
    await Promise.all([cancelPlan(stack.ctx, user), cancelPlan(stack.ctx, user)])
    expect(await summary()).toMatchObject({ cancel_at_period_end: true, next_plan_type: null })
  })

  test('while Stripe is late with a renewal, a change waits for it', async () => {
    await buy('basic')
    const found = await stack.ctx.payments.findSubscription((await plan())?.stripeSubscriptionId ?? '')
    const late = { ...stack.ctx, payments: { ...stack.ctx.payments, findSubscription: async () => found } }
    stack.clock.now = anchor + PERIOD
    const renewing = { code: 'conflict', message: expect.stringContaining('renewing your plan right now') }
    await expect(quoteChange(late, user, 'premium')).rejects.toMatchObject(renewing)
    await expect(changePlan(late, user, { planType: 'premium', quotedAt: null })).rejects.toMatchObject(renewing)
    await change('premium')
    expect(await charged()).toEqual([2500, 2500, 22_500])
  })

  test('ending a plan twice is no error', async () => {
    await buy('basic')
    const id = (await plan())?.stripeSubscriptionId ?? ''
    await stack.ctx.payments.cancelNow(id)
    await stack.ctx.payments.cancelNow(id)
    expect(await stack.ctx.payments.findSubscription(id)).toMatchObject({ status: 'canceled' })
  })

  test('a downgrade that Stripe makes late, after we asked, leaves the new period only its own hours', async () => {
    await buy('premium')
    await change('basic')
    const id = (await plan())?.stripeSubscriptionId ?? ''
    const stale = await stack.ctx.payments.findSubscription(id)
    stack.clock.now = anchor + PERIOD + 1000
    await syncPlan({ ...stack.ctx, payments: { ...stack.ctx.payments, findSubscription: async () => stale } }, id)
    expect(await plan()).toMatchObject({ planType: 'premium', syncedAt: stack.clock.now })
    stack.clock.now += MINUTE
    await hear()
    expect(await summary()).toMatchObject({ plan_type: 'basic', hours: 5 })
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
    expect(await schedules()).toBeGreaterThan(0)
    expect(await summary()).toMatchObject({ plan_type: 'premium', next_plan_type: 'premium' })
    await cancelPlan(stack.ctx, user)
    expect(await summary()).toMatchObject({ cancel_at_period_end: true, next_plan_type: null })
    await expect(change('basic')).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('Keep it'),
    })
    await keepPlan(stack.ctx, user)
    await change('basic')
    expect(await summary()).toMatchObject({ cancel_at_period_end: false, next_plan_type: 'basic' })
    // Canceling also undoes the change.
    await cancelPlan(stack.ctx, user)
    stack.clock.now = anchor + PERIOD
    await hear()
    expect([await charged(), (await plan())?.status]).toEqual([[25_000], 'canceled'])
  })

  test('a cancelled plan is kept with one click, until it has ended', async () => {
    await buy('basic')
    await cancelPlan(stack.ctx, user)
    await keepPlan(stack.ctx, user)
    await keepPlan(stack.ctx, user)
    expect(await summary()).toMatchObject({ cancel_at_period_end: false, next_plan_type: 'basic' })
    await cancelPlan(stack.ctx, user)
    stack.clock.now = anchor + PERIOD
    await expect(keepPlan(stack.ctx, user)).rejects.toMatchObject({ code: 'not_found' })
    await hear()
    expect((await plan())?.status).toBe('canceled')

    user = await stack.newUser()
    await expect(keepPlan(stack.ctx, user)).rejects.toMatchObject({ code: 'not_found' })
    await stack.insertPlan(user.id)
    await cancelPlan(stack.ctx, user)
    await keepPlan(stack.ctx, user)
    expect(await plan()).toMatchObject({ cancelAtPeriodEnd: false, cancelAt: null, endedAt: null })
  })

  test('upgrading a cancelled plan keeps it', async () => {
    await buy('basic')
    await cancelPlan(stack.ctx, user)
    await change('premium')
    expect(await summary()).toMatchObject({ plan_type: 'premium', cancel_at_period_end: false })
  })

  test('refuses a trial, a granted plan, an unpaid plan, and plans that are not for sale', async () => {
    await expect(change('premium')).rejects.toMatchObject({ code: 'not_found' })
    await stack.insertPlan(user.id)
    await expect(change('premium')).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('sales'),
    })
    await expect(change('enterprise')).rejects.toMatchObject({ code: 'invalid' })

    user = await stack.newUser()
    await buy('basic', 'declined_later')
    stack.clock.now = anchor + PERIOD
    await hear()
    await expect(change('premium')).rejects.toMatchObject({ code: 'payment_required', page: '/subscriptions/pay' })
    const closed = { ...stack.ctx, config: { ...stack.ctx.config, plansForSale: false } }
    await expect(changePlan(closed, user, { planType: 'premium', quotedAt: null })).rejects.toMatchObject({
      code: 'invalid',
    })
  })

  test('allows twenty changes an hour, and thirty quotes', async () => {
    await buy('premium')
    for (let n = 0; n < 20; n++) await keepPlan(stack.ctx, user)
    await expect(keepPlan(stack.ctx, user)).rejects.toMatchObject({ code: 'too_many' })
    await expect(change('basic')).rejects.toMatchObject({ code: 'too_many' })
    for (let n = 0; n < 30; n++) await quoteChange(stack.ctx, user, 'basic')
    await expect(quoteChange(stack.ctx, user, 'basic')).rejects.toMatchObject({ code: 'too_many' })
  })
})
