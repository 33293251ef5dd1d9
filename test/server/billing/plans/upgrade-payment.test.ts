import { expect, test, vi } from 'vitest'
import { upgradeOf } from '../../../../src/domain/money/plan-words.ts'
import { planPaymentsQuery } from '../../../../src/server/billing/bills/plan-payments.ts'
import { findPlanPayPage } from '../../../../src/server/billing/plans/pay-plan.ts'
import { checkPlan } from '../../../../src/server/billing/plans/plan-sync.ts'
import { openPlanOwner } from '../../../../testing/people/plan-owner.ts'

const MINUTE = 60_000
const HOUR = 3_600_000
const DAY = 24 * HOUR
/** January 10 to February 10. */
const PERIOD = 31 * DAY
const anchor = Date.UTC(2028, 0, 10)

const { stack, owner, plan, stripeId, buy, quote, change, cancel, payPage, hear, subscription, listBills, charged } =
  await openPlanOwner(anchor)

test('a declined card changes nothing and says so; another card can pay the same quote at once, and pays once', async () => {
  await buy('basic', 'declined_later')
  const { quotedAt } = await quote('premium')
  await expect(change('premium', quotedAt)).rejects.toMatchObject({
    code: 'plan_unpaid',
    message: expect.stringContaining("Your card was declined, so nothing changed and you weren't charged."),
  })
  expect([await charged(), (await subscription())?.plan_type, (await plan())?.upgradedAt]).toEqual([
    [2500],
    'basic',
    null,
  ])
  const portal = await stack.ctx.payments.createPortal({
    customerId: (await stack.atStripe<{ customer: string }>(`subscriptions/${await stripeId()}`)).customer,
    returnUrl: 'http://site.test/',
  })
  await stack.press(portal)
  stack.clock.now += 1000
  await Promise.all([change('premium', quotedAt), change('premium', quotedAt)])
  expect(await charged()).toEqual([2500, 22_500])
})

const confirm = { code: 'plan_unpaid', message: expect.stringContaining('confirm'), page: '/subscriptions/pay' }
const fees = async () => {
  await checkPlan(stack.ctx, await stripeId())
  const rows = await planPaymentsQuery(stack.ctx, owner().id)
  return rows.map(({ amountCents, status }) => [amountCents, status]).sort()
}

test('a bank that asks: nothing changes until the payment is confirmed, then the quoted price and hours count', async () => {
  await buy('basic', 'bank_asks')
  await cancel()
  stack.clock.now = anchor + PERIOD / 4
  const { quotedAt } = await quote('premium')
  // Both clicks open one invoice.
  const clicks = await Promise.allSettled([change('premium', quotedAt), change('premium', quotedAt)])
  expect(clicks).toMatchObject([
    { status: 'rejected', reason: confirm },
    { status: 'rejected', reason: confirm },
  ])
  await expect(change('premium')).rejects.toMatchObject(confirm)
  await expect(quote('premium')).rejects.toMatchObject(confirm)
  expect(await charged()).toEqual([2500, 16_875])
  await stack.passTime(stack.clock.now + DAY / 2, DAY / 4)
  // Nobody owes it, and it still ends.
  expect([await fees(), await subscription(), await plan()]).toMatchObject([
    [[2500, 'paid']],
    { plan_type: 'basic', hours: 5, cancel_at_period_end: true },
    { upgradedAt: null, upgradeUntil: quotedAt + 23 * HOUR },
  ])
  const other = await stack.newUser()
  expect(await findPlanPayPage(stack.ctx, other.id)).toEqual({ page: null, upgrades: false })
  const { page, upgrades } = await findPlanPayPage(stack.ctx, owner().id)
  expect(upgrades).toBe(true)
  await stack.press(page)
  await hear()
  await hear()
  expect([await subscription(), await plan()]).toMatchObject([
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
  const page = await payPage()
  stack.clock.now = lapsesAt - 1000
  expect(upgradeOf((await plan()) ?? null, stack.clock.now)).toEqual({ until: lapsesAt, waits: true })
  // Found without a webhook, within a minute.
  await stack.passTime(lapsesAt + MINUTE, MINUTE)
  expect((await plan())?.syncedAt).toBeGreaterThanOrEqual(lapsesAt)
  await stack.press(page)
  await hear()
  expect([await fees(), await subscription(), upgradeOf((await plan()) ?? null, stack.clock.now)]).toMatchObject([
    [[2500, 'paid']],
    { plan_type: 'basic', hours: 5 },
    { until: lapsesAt, waits: false },
  ])
  expect(await payPage()).toBeNull()
  // A replaced card upgrades at once, from its own moment.
  const { customer } = await stack.atStripe<{ customer: string }>(`subscriptions/${await stripeId()}`)
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
