import type { Account } from './account.ts'
import { invalid, missing, noSuch } from './failure.ts'
import { integer, type Params, text } from './form.ts'
import { getInvoice } from './invoices.ts'
import { listPage } from './list-page.ts'
import type { Dispute, DisputeStatus, Invoice, Refund } from './objects.ts'

/** Ways to give back a payment: refunds, and disputes at the customer's bank. The invoice stays paid. */

/** The payment of an invoice is named after it. */
const invoiceOf = (intent: string) => intent.replace(/^pi_/, '')
const intentOf = ({ id }: Invoice) => `pi_${id}`

/** The invoices that a payment pays: `payment[payment_intent]` names it. */
export function listInvoicePayments({ store }: Account, params: Params) {
  const { payment } = params
  const intent = typeof payment === 'object' && !Array.isArray(payment) ? text(payment as Params, 'payment_intent') : ''
  if (!intent) throw missing('payment[payment_intent]')
  const paid = store.all<Invoice>('invoices').filter((one) => one.id === invoiceOf(intent))
  const payments = paid.map(({ id, status }) => ({
    id: `inpay_${id}`,
    object: 'invoice_payment',
    invoice: id,
    status: status === 'paid' ? 'paid' : 'open',
    payment: { type: 'payment_intent', payment_intent: intent },
  }))
  return listPage(payments, params, '/v1/invoice_payments', () => true)
}

/** The customer gets it back on the card or account that paid. Without an amount, all that is left. */
export function createRefund(account: Account, params: Params): Refund {
  const intent = text(params, 'payment_intent')
  if (!intent) throw missing('payment_intent')
  const invoice = getInvoice(account, invoiceOf(intent))
  const before = refundsOf(account, intent).reduce((sum, { amount }) => sum + amount, 0)
  const left = invoice.amount_paid - before
  const amount = integer(params, 'amount') ?? left
  if (invoice.status !== 'paid' || amount <= 0 || amount > left)
    throw invalid(`Refund amount is greater than the unrefunded amount on the charge (${left}).`, 'amount')
  const refund: Refund = {
    id: account.newId('re'),
    object: 'refund',
    created: account.now(),
    amount,
    currency: 'usd',
    payment_intent: intent,
    status: 'succeeded',
  }
  account.store.put('refunds', refund.id, refund)
  const charge = { id: `ch_${invoice.id}`, object: 'charge', payment_intent: intent, amount_refunded: before + amount }
  account.announce('charge.refunded', charge)
  return refund
}

const refundsOf = ({ store }: Account, intent: string) =>
  store.all<Refund>('refunds').filter(({ payment_intent, status }) => payment_intent === intent && status !== 'failed')

/** The customer's bank returns it. */
export function failRefund(account: Account, id: string): void {
  const refund = account.store.get<Refund>('refunds', id)
  if (!refund) throw noSuch('refund', id)
  const failed: Refund = { ...refund, status: 'failed' }
  account.store.put('refunds', id, failed)
  account.announce('refund.updated', failed)
  account.announce('refund.failed', failed)
}

/** The customer tells their bank that they didn't want this payment. The bank inquires first, or takes it back at once. */
export function openDispute(
  account: Account,
  invoiceId: string,
  status: 'needs_response' | 'warning_needs_response' = 'needs_response',
): Dispute {
  const invoice = getInvoice(account, invoiceId)
  if (invoice.status !== 'paid' || invoice.amount_paid <= 0) throw invalid('Nobody paid this invoice.')
  const dispute: Dispute = {
    id: account.newId('du'),
    object: 'dispute',
    created: account.now(),
    amount: invoice.amount_paid,
    currency: 'usd',
    payment_intent: intentOf(invoice),
    reason: 'general',
    status,
  }
  account.store.put('disputes', dispute.id, dispute)
  account.announce('charge.dispute.created', dispute)
  return dispute
}

/** The bank turns its inquiry into a dispute and takes the money, or ends either one. The winner of a dispute keeps the money. */
export function changeDispute(account: Account, id: string, status: DisputeStatus): Dispute {
  const dispute = account.store.get<Dispute>('disputes', id)
  if (!dispute) throw noSuch('dispute', id)
  const changed = { ...dispute, status }
  account.store.put('disputes', id, changed)
  if (status === 'needs_response') account.announce('charge.dispute.funds_withdrawn', changed)
  else account.announce('charge.dispute.closed', changed)
  return changed
}
