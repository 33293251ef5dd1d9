import { asc, eq } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { invoices, planPayments, stripeEvents } from '../../../../db/schema/billing.ts'
import { outbox } from '../../../../db/schema/mail.ts'
import { EVENTS } from '../../../../scripts/stripe-account.ts'
import { givenBack } from '../../../../src/domain/money/bill.ts'
import { listBills } from '../../../../src/server/billing/bills/billing-history.ts'
import { setCharging } from '../../../../src/server/billing/bills/charge-consent.ts'
import { DAY, HOUR, MONTH, openCustomer } from '../../../../testing/stack/billing-customer.ts'

const { stack, me, account, buyBasic } = await openCustomer()
beforeEach(() => stack.setWebhooks('handled'))

// What we learned from, an endpoint gets that we set up.
afterEach(async () => {
  const heard = (await stack.db.select().from(stripeEvents)).map(({ type }) => type)
  expect(EVENTS).toEqual(expect.arrayContaining(heard.filter((type) => /^(charge|refund)\./.test(type))))
})

/** Someone whose card paid Basic twice, and $5.25 of usage. @returns the invoice of usage at Stripe */
async function charged(): Promise<string> {
  await buyBasic({ answer: 'yes' })
  await stack.passTime(MONTH - HOUR, 3 * DAY)
  await stack.passTime(MONTH + 3 * DAY, 3 * HOUR)
  const [row] = await stack.db.select().from(invoices).where(eq(invoices.userId, me.user.id))
  expect(row?.status).toBe('paid')
  return row?.stripeInvoiceId ?? ''
}
const usage = async () => (await listBills(stack.ctx, me.user.id)).find(({ kind }) => kind === 'usage')
const mailsTo = async (recipient: string, about = '') => {
  const all = await stack.db.select().from(outbox).where(eq(outbox.recipient, recipient)).orderBy(asc(outbox.createdAt))
  return all.filter(({ cause }) => (cause ?? '').endsWith(about)).map(({ subject }) => subject)
}
const toOperator = (invoice: string) => mailsTo('operator@site.test', invoice)
const refund = (invoice: string, amount?: number) =>
  stack.atStripe<{ id: string }>('refunds', `payment_intent=pi_${invoice}${amount ? `&amount=${amount}` : ''}`)

test('a refund, in parts or whole, stands beside the payment; the bill stays paid', async () => {
  const invoice = await charged()
  await refund(invoice, 200)
  await stack.stripe.settle()
  expect(await usage()).toMatchObject({ paid: true, amount_owed: 5.25, dollars_due: 0, amount_refunded: 2 })
  await refund(invoice)
  await stack.stripe.settle()
  const bill = await usage()
  expect([bill?.paid, bill && givenBack(bill)]).toEqual([true, 'Refunded $5.25'])
  await stack.passTime(stack.clock.now + 20 * DAY, 5 * DAY)
  expect((await account())?.suspendedAt).toBeNull()
  expect(await toOperator(invoice)).toEqual([])
})

test('a refund of a plan stands beside its payment', async () => {
  await charged()
  const [row] = await stack.db.select().from(planPayments).where(eq(planPayments.userId, me.user.id))
  await refund(row?.stripeInvoiceId ?? '')
  await stack.stripe.settle()
  const plan = (await listBills(stack.ctx, me.user.id)).find(({ id }) => id === row?.id)
  expect(plan && [plan.paid, givenBack(plan)]).toEqual([true, 'Refunded $25.00'])
})

test('a refund that fails later was none', async () => {
  const invoice = await charged()
  await refund(invoice, 200)
  const { id } = await refund(invoice, 125)
  await stack.stripe.settle()
  expect(await usage()).toMatchObject({ amount_refunded: 3.25 })
  stack.clock.now += 6 * DAY
  stack.stripe.failRefund(id)
  await stack.stripe.settle()
  const bill = await usage()
  expect([bill?.paid, bill && givenBack(bill)]).toEqual([true, 'Refunded $2.00'])
})

test("a bank's inquiry counts for nothing until it becomes a dispute", async () => {
  const invoice = await charged()
  stack.clock.now += HOUR
  const id = stack.stripe.dispute(invoice, 'warning_needs_response')
  await stack.stripe.settle()
  const standsAs = async () => [(await usage())?.dispute, (await account())?.chargeRefusedAt, await toOperator(invoice)]
  expect(await standsAs()).toEqual([null, null, []])
  stack.clock.now += 3 * DAY
  stack.stripe.changeDispute(id, 'needs_response')
  await stack.stripe.settle()
  expect(await standsAs()).toEqual(['open', stack.clock.now, ['A customer disputes a payment']])
  expect((await mailsTo(me.user.email)).at(-1)).toBe('We no longer charge you automatically')
  stack.takeLines()
})

test("a bank's inquiry that ends changes nothing", async () => {
  const invoice = await charged()
  const id = stack.stripe.dispute(invoice, 'warning_needs_response')
  stack.stripe.changeDispute(id, 'warning_closed')
  await stack.stripe.settle()
  expect([(await usage())?.dispute, (await account())?.chargeRefusedAt]).toEqual([null, null])
})

test('a dispute: the operator hears of it, their card is charged no more until they agree again, and nobody is suspended', async () => {
  const invoice = await charged()
  stack.clock.now += HOUR
  const id = stack.stripe.dispute(invoice)
  await stack.stripe.settle()
  expect(await usage()).toMatchObject({ paid: true, overdue: false, dispute: 'open' })
  const disputedAt = stack.clock.now
  expect((await account())?.chargeRefusedAt).toBe(disputedAt)
  expect((await mailsTo(me.user.email)).at(-1)).toBe('We no longer charge you automatically')
  expect(await toOperator(invoice)).toEqual(['A customer disputes a payment'])
  stack.clock.now += HOUR
  await setCharging(stack.ctx, me.user.id, { on: true })
  stack.clock.now += 20 * DAY
  stack.stripe.changeDispute(id, 'lost')
  await stack.stripe.settle()
  const bill = await usage()
  expect([bill?.paid, bill && givenBack(bill)]).toEqual([true, 'Taken back by the bank'])
  // They agreed again since, and its end changes nothing about that.
  expect(await account()).toMatchObject({ chargeRefusedAt: disputedAt, suspendedAt: null })
  expect(stack.takeLines()).toHaveLength(2)
  expect(await toOperator(invoice)).toEqual([
    'A customer disputes a payment',
    'A bank gave a payment back to its customer',
  ])
})

test('a dispute that is won leaves no trace in the books, whatever we hear first', async () => {
  const invoice = await charged()
  stack.setWebhooks('kept')
  const id = stack.stripe.dispute(invoice)
  stack.stripe.changeDispute(id, 'won')
  await stack.stripe.settle()
  stack.setWebhooks('handled')
  await stack.stripe.settle()
  const bill = await usage()
  expect([bill?.dispute, bill && givenBack(bill)]).toEqual(['won', null])
  expect(await toOperator(invoice)).toEqual([])
})
