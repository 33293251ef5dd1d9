import { eq } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { planPayments, plans } from '../../../../db/schema/billing.ts'
import type { Invoice as AtStripe } from '../../../../dev/stripe/objects.ts'
import { totalDollars } from '../../../../src/domain/money/bill.ts'
import type { User } from '../../../../src/domain/wire/accounts.ts'
import { getBillingHistory, listBills } from '../../../../src/server/billing/bills/billing-history.ts'
import { getBillingOverview } from '../../../../src/server/billing/bills/billing-overview.ts'
import { syncInvoice } from '../../../../src/server/billing/bills/invoice-sync.ts'
import { openPortal } from '../../../../src/server/billing/bills/portal.ts'
import { createCheckout, settleCheckout } from '../../../../src/server/billing/plans/checkout.ts'
import { syncPlan } from '../../../../src/server/billing/plans/plan-sync.ts'
import { reconcilePlans } from '../../../../src/server/billing/plans/reconcile.ts'
import { openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const RENEWAL = Date.UTC(2028, 1, 10, 9)

const stack = await openBillingStack(Date.UTC(2028, 0, 10, 9))
let user: User
beforeEach(async () => {
  stack.setWebhooks('handled')
  stack.clock.now = Date.UTC(2028, 0, 10, 9)
  await stack.forgetEverybody()
  await stack.db.update(planPayments).set({ checkAt: null })
  user = await stack.newUser()
})

async function buy(card?: 'declined_later') {
  await stack.press((await createCheckout(stack.ctx, user, { planType: 'basic' })).url, card)
  await settleCheckout(stack.ctx, user.id)
  await stack.stripe.settle()
}
const passTo = async (at: number) => {
  stack.clock.now = at
  await stack.stripe.settle()
}
const fees = async () => (await listBills(stack.ctx, user.id)).filter(({ kind }) => kind === 'plan')
const atStripe = async () => {
  const [account] = await stack.db.select().from(users).where(eq(users.id, user.id))
  return (await stack.atStripe<{ data: AtStripe[] }>(`invoices?limit=100&customer=${account?.stripeCustomerId}`)).data
}
const taken = async () => (await atStripe()).reduce((cents, invoice) => cents + invoice.amount_paid, 0) / 100

test('every payment of the plan is in the history, once, and the total is what Stripe took', async () => {
  await buy()
  await stack.insertRun(user.id, { from: stack.clock.now + DAY, until: stack.clock.now + DAY + 7 * HOUR })
  await passTo(RENEWAL + 60_000)
  await stack.passTime(RENEWAL + DAY, HOUR)
  const bills = await listBills(stack.ctx, user.id)
  expect(
    bills.map(({ kind, start_date, end_date, amount_owed, paid, plan }) => [
      kind,
      start_date,
      end_date,
      amount_owed,
      paid,
      plan,
    ]),
  ).toEqual([
    ['plan', '2028-02-10', '2028-03-10', 25, true, 'Basic'],
    ['usage', '2028-01-10', '2028-02-10', 3.5, false, 'Basic'],
    ['plan', '2028-01-10', '2028-02-10', 25, true, 'Basic'],
  ])
  expect((await getBillingHistory(stack.ctx, user.id)).bills).toEqual(bills)
  expect(await getBillingOverview(stack.ctx, user.id)).toMatchObject({ unpaidDollars: 3.5, hasPortal: true })
  await stack.press(bills[1]?.invoice_url)
  await stack.stripe.settle()
  expect(await taken()).toBe(totalDollars(await listBills(stack.ctx, user.id)))
})

test('the balance shows a declined payment, with the page to pay it, until it is paid', async () => {
  await buy('declined_later')
  await passTo(RENEWAL + 60_000)
  const [fee] = await fees()
  expect(fee).toMatchObject({ start_date: '2028-02-10', amount_owed: 25, dollars_due: 25, paid: false, overdue: false })
  expect(await getBillingOverview(stack.ctx, user.id)).toMatchObject({
    unpaidDollars: 25,
    openInvoices: [{ id: fee?.id, invoice_url: fee?.invoice_url }],
    overdue: false,
  })
  await stack.press(fee?.invoice_url)
  await stack.stripe.settle()
  expect(await fees()).toMatchObject([{ id: fee?.id, paid: true, dollars_due: 0 }, { paid: true }])
  expect(await getBillingOverview(stack.ctx, user.id)).toMatchObject({
    unpaidDollars: 0,
    openInvoices: [],
  })
})

test('lost webhooks cost a day: we ask for all payments of the plan, and for an unpaid one even after its end', async () => {
  stack.setWebhooks('lost')
  await buy('declined_later')
  await passTo(RENEWAL)
  expect(await fees()).toEqual([])
  await stack.passTime(RENEWAL + DAY, HOUR)
  expect((await fees()).map(({ paid }) => paid)).toEqual([false, true])

  await stack.db.update(plans).set({ endedAt: stack.clock.now, checkAt: null }).where(eq(plans.userId, user.id))
  await stack.press((await fees())[0]?.invoice_url)
  await stack.passTime(stack.clock.now + 25 * HOUR, HOUR)
  expect((await fees()).map(({ paid }) => paid)).toEqual([true, true])
  const rows = await stack.db.select().from(planPayments).where(eq(planPayments.userId, user.id))
  expect(rows.map(({ checkAt }) => checkAt)).toEqual([null, null])
})

test('what we hear about the plan postpones no question about its payments, and neither does a failed one', async () => {
  await buy()
  const plan = async () => (await stack.db.select().from(plans).where(eq(plans.userId, user.id)))[0]
  const { checkAt, stripeSubscriptionId } = (await plan()) ?? {}
  expect(checkAt).toBe(stack.clock.now + DAY)
  stack.clock.now += 23 * HOUR
  await syncPlan(stack.ctx, stripeSubscriptionId ?? '')
  expect(await plan()).toMatchObject({ checkAt, syncedAt: stack.clock.now })
  stack.clock.now = checkAt ?? 0
  const listPlanInvoices = () => Promise.reject(new Error('Stripe is busy'))
  await reconcilePlans({ ...stack.ctx, payments: { ...stack.ctx.payments, listPlanInvoices } })
  expect(inBrief(stack.takeLines())).toEqual(['reconcile_failed'])
  expect((await plan())?.checkAt).toBe(stack.clock.now + HOUR)
  stack.clock.now += HOUR
  await reconcilePlans(stack.ctx)
  expect((await plan())?.checkAt).toBe(stack.clock.now + DAY)
})

test('if a plan ended while webhooks were lost, we ask once more for all its payments', async () => {
  const endPlan = async () => {
    const [sold] = (await stack.atStripe<{ data: { id: string }[] }>('subscriptions?limit=1')).data
    await stack.ctx.payments.cancelNow(sold?.id ?? '')
    await stack.stripe.settle()
  }
  // It ended before we heard about it.
  stack.setWebhooks('lost')
  await stack.press((await createCheckout(stack.ctx, user, { planType: 'basic' })).url)
  await endPlan()
  await stack.passTime(stack.clock.now + 2 * HOUR, HOUR)
  expect((await fees()).map(({ paid }) => paid)).toEqual([true])

  // We hear about its end, but not its last payment.
  stack.setWebhooks('handled')
  await buy()
  stack.setWebhooks('lost')
  await passTo(Date.UTC(2028, 1, 10, 12))
  stack.setWebhooks('handled')
  await endPlan()
  await stack.passTime(stack.clock.now + 2 * HOUR, HOUR)
  expect((await fees()).map(({ paid }) => paid)).toEqual([true, true, true])
  const asked = await stack.db.select().from(plans).where(eq(plans.userId, user.id))
  expect(asked.map(({ checkAt }) => checkAt)).toEqual([null, null])
})

test('an older answer from Stripe never overwrites a newer one', async () => {
  await buy('declined_later')
  await passTo(RENEWAL)
  const [fee] = await fees()
  const id = fee?.transaction_id ?? ''
  const old = await stack.ctx.payments.findInvoice(id)
  let answer = (_: typeof old) => {}
  const slow = new Promise<typeof old>((resolve) => {
    answer = resolve
  })
  const late = syncInvoice({ ...stack.ctx, payments: { ...stack.ctx.payments, findInvoice: () => slow } }, id)
  await stack.press(fee?.invoice_url)
  stack.clock.now += 1000
  await stack.stripe.settle()
  answer(old)
  await late
  expect((await fees())[0]).toMatchObject({ paid: true, dollars_due: 0 })
})

test('a credit note lowers the amount, before and after payment; a voided invoice is not listed', async () => {
  await buy('declined_later')
  await passTo(RENEWAL)
  const [open, paid] = await fees()
  const credit = (invoice: string | null | undefined, more = '') =>
    stack.atStripe(
      'credit_notes',
      `invoice=${invoice}&lines[0][type]=custom_line_item&lines[0][quantity]=1&lines[0][unit_amount]=500${more}`,
    )
  await credit(open?.transaction_id)
  await credit(paid?.transaction_id, '&credit_amount=500')
  await stack.stripe.settle()
  expect(await fees()).toMatchObject([
    { amount_owed: 20, dollars_due: 20 },
    { amount_owed: 20, paid: true, dollars_due: 0 },
  ])
  await stack.atStripe(`invoices/${open?.transaction_id}/void`, '')
  await stack.stripe.settle()
  expect(await fees()).toMatchObject([{ id: paid?.id }])
})

test('a second plan that we cancel at once is in the books: Stripe took its money', async () => {
  await buy()
  const [account] = await stack.db.select().from(users).where(eq(users.id, user.id))
  const second = await stack.ctx.payments.createCheckout(
    {
      customerId: account?.stripeCustomerId ?? '',
      userId: user.id,
      planType: 'premium',
      successUrl: 'http://site.test/',
      cancelUrl: 'http://site.test/',
    },
    'second',
  )
  await stack.press(second.url)
  await stack.stripe.settle()
  expect((await fees()).map(({ plan, amount_owed }) => [plan, amount_owed]).sort()).toEqual([
    ['Basic', 25],
    ['Premium', 250],
  ])
  expect(inBrief(stack.takeLines())).toEqual([expect.stringContaining('second_plan_canceled')])
})

test('the portal opens only for customers, and twenty times an hour', async () => {
  await expect(openPortal(stack.ctx, user.id)).rejects.toMatchObject({ code: 'not_found' })
  await buy()
  expect(await (await fetch(await openPortal(stack.ctx, user.id))).text()).toContain(user.email)
  for (let n = 1; n < 20; n++) await openPortal(stack.ctx, user.id)
  const before = stack.stripe.calls().length
  await expect(openPortal(stack.ctx, user.id)).rejects.toMatchObject({ code: 'too_many' })
  expect(stack.stripe.calls()).toHaveLength(before)
})
