import type { Account } from './account.ts'
import { debitOf, defaultOf, refusalOf } from './cards.ts'
import { invalid } from './failure.ts'
import { flag, integer, type Params, text } from './form.ts'
import { finalizeInvoice, getInvoice, isPayable, save, settle } from './invoices.ts'
import type { Customer, Invoice, PaymentIntent, Try } from './objects.ts'

const HOUR = 3600
/** Seconds from each failed attempt to the next, with retries of one-off invoices on in Stripe's settings. */
const RETRIES = [3, 5, 7].map((days) => days * 86_400)

/** Changes how an invoice is collected: the method only of a draft. */
export function updateInvoice(account: Account, params: Params, id: string): Invoice {
  const invoice = getInvoice(account, id)
  const method = text(params, 'collection_method')
  const advances = flag(params, 'auto_advance')
  const days = integer(params, 'days_until_due')
  if ((method !== undefined || days !== undefined) && invoice.status !== 'draft')
    throw invalid('Finalized invoices can’t be updated in this way.', method ? 'collection_method' : 'days_until_due')
  if (advances !== undefined && invoice.status !== 'draft' && invoice.status !== 'open')
    throw invalid(`A ${invoice.status} invoice doesn't advance.`, 'auto_advance')
  if (method === 'send_invoice' && (days ?? invoice.days_until_due) === null)
    throw invalid('days_until_due is required with collection_method send_invoice', 'days_until_due')
  if (method === 'send_invoice' || method === 'charge_automatically') invoice.collection_method = method
  if (days !== undefined) invoice.days_until_due = days
  if (advances !== undefined) setAdvance(account, invoice, advances)
  save(account, invoice, 'invoice.updated')
  return invoice
}

/** Finalizes a draft. If it advances, its card is charged within the hour. */
export function finalize(account: Account, params: Params, id: string): Invoice {
  const invoice = finalizeInvoice(account, id)
  if (invoice.status === 'open') setAdvance(account, invoice, flag(params, 'auto_advance') ?? invoice.auto_advance)
  account.store.put('invoices', id, invoice)
  return invoice
}

/** Turns automatic collection on or off. An open invoice is then charged within the hour. */
function setAdvance(account: Account, invoice: Invoice, advances: boolean): void {
  invoice.auto_advance = advances
  const charges = advances && invoice.status === 'open' && invoice.collection_method === 'charge_automatically'
  const left = (invoice.attempt_count ?? 0) <= RETRIES.length
  invoice.next_payment_attempt = charges && left ? account.now() + HOUR : null
}

/** How long a bank takes to pay a debit, or to return it, in seconds. */
const DEBIT_TAKES = 4 * 86_400

type Debit = { returned: boolean; at: number }

/** A bank begins to pay an invoice. Until that ends, Stripe repeats no debit and charges nothing else. */
export function beginDebit(account: Account, invoice: Invoice, { returned }: { returned: boolean }, at: number): void {
  invoice.attempted = true
  invoice.next_payment_attempt = null
  save(account, invoice, 'invoice.updated', at)
  putIntent(account, invoice, 'processing')
  account.store.put('debits', invoice.id, { returned, at: at + DEBIT_TAKES } satisfies Debit)
}

export const isOnItsWay = ({ store }: Account, invoice: string) => store.get('debits', invoice) !== undefined

/** Settles the bank debits that are a few days old: paid or failed. */
export function endDebits(account: Account): void {
  for (const [id, { returned, at }] of account.store.entries<Debit>('debits')) {
    if (at > account.now()) continue
    account.store.remove('debits', id)
    const invoice = getInvoice(account, id)
    if (!isPayable(invoice)) continue
    if (returned) {
      putIntent(account, invoice, 'requires_payment_method', {
        type: 'invalid_request_error',
        code: 'payment_intent_payment_attempt_failed',
        message: 'The customer’s bank account has insufficient funds.',
        payment_method: { type: 'us_bank_account' },
      })
      save(account, invoice, 'invoice.payment_failed', at)
    } else {
      putIntent(account, invoice, 'succeeded')
      settle(account, invoice, at)
    }
  }
}

function putIntent(
  { store, newId }: Account,
  { id }: Invoice,
  status: PaymentIntent['status'],
  error: PaymentIntent['last_payment_error'] = null,
): void {
  const charge = { latest_charge: newId('ch') }
  const intent = { id: `pi_${id}`, object: 'payment_intent' as const, status, ...charge, last_payment_error: error }
  store.put('payment_intents', id, intent satisfies PaymentIntent)
}

/** Charges what is due now, as Stripe does with `auto_advance`. A plan's invoices are charged with its periods. */
export function chargeDue(account: Account): void {
  for (const invoice of account.store.all<Invoice>('invoices')) {
    let at = invoice.next_payment_attempt
    while (at && at <= account.now() && invoice.status === 'open' && !invoice.parent) {
      attempt(account, invoice, at)
      at = invoice.next_payment_attempt
    }
  }
}

function attempt(account: Account, invoice: Invoice, at: number): void {
  const method = defaultOf(account.store.get<Customer>('customers', invoice.customer))
  const refusal = refusalOf(account, method)
  const asks = refusal?.code === 'authentication_required'
  invoice.attempted = true
  invoice.attempt_count = (invoice.attempt_count ?? 0) + 1
  const id = `${invoice.id}:${invoice.attempt_count}`
  account.store.put('tries', id, { id, invoice: invoice.id, at } satisfies Try)
  const debit = debitOf(account, method)
  if (debit) {
    beginDebit(account, invoice, debit, at)
    return
  }
  const wait = RETRIES[invoice.attempt_count - 1]
  invoice.next_payment_attempt = refusal && !asks && wait !== undefined ? at + wait : null
  const status = !refusal ? 'succeeded' : asks ? 'requires_action' : 'requires_payment_method'
  putIntent(account, invoice, status, refusal && { type: 'card_error', ...refusal })
  if (!refusal) {
    settle(account, invoice, at)
    return
  }
  save(account, invoice, 'invoice.payment_failed', at)
  if (asks) account.announce('invoice.payment_action_required', invoice, at)
}

/** The invoice with its payment and why that failed, which Stripe shows only to calls that ask for it. */
export function withPayments({ store }: Account, invoice: Invoice) {
  const intent = store.get<PaymentIntent>('payment_intents', invoice.id)
  const payment = intent && {
    id: `inpay_${invoice.id}`,
    object: 'invoice_payment',
    is_default: true,
    invoice: invoice.id,
    status: invoice.status === 'paid' ? 'paid' : 'open',
    payment: { type: 'payment_intent', payment_intent: intent },
  }
  return { ...invoice, payments: { object: 'list', has_more: false, data: payment ? [payment] : [] } }
}
