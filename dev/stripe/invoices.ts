import type { Account } from './account.ts'
import { companyOf } from './companies.ts'
import { invalid, missing, noSuch } from './failure.ts'
import { flag, integer, type Params, record, text } from './form.ts'
import type { Customer, Invoice, InvoiceItem } from './objects.ts'

const DAY = 86_400

export function createInvoice(account: Account, params: Params): Invoice {
  const customer = text(params, 'customer')
  if (!customer) throw missing('customer')
  const owner = account.store.get<Customer>('customers', customer)
  if (!owner) throw noSuch('customer', customer, 'customer')
  const sent = text(params, 'collection_method') === 'send_invoice'
  const days = integer(params, 'days_until_due')
  if (sent && days === undefined) throw missing('days_until_due')
  if (!sent && days !== undefined)
    throw invalid('days_until_due needs collection_method send_invoice', 'days_until_due')
  const invoice = draft(account, owner, account.now())
  invoice.collection_method = sent ? 'send_invoice' : 'charge_automatically'
  invoice.auto_advance = flag(params, 'auto_advance') ?? false
  invoice.description = text(params, 'description') ?? null
  invoice.metadata = record(params, 'metadata')
  invoice.days_until_due = days ?? null
  save(account, invoice, 'invoice.created')
  return invoice
}

export function createInvoiceItem(account: Account, params: Params): InvoiceItem {
  const customer = text(params, 'customer')
  const amount = integer(params, 'amount')
  const id = text(params, 'invoice')
  if (!customer) throw missing('customer')
  if (!account.store.get<Customer>('customers', customer)) throw noSuch('customer', customer, 'customer')
  if (amount === undefined || Number.isNaN(amount)) throw missing('amount')
  const invoice = id ? getInvoice(account, id) : null
  if (invoice && invoice.customer !== customer) throw invalid('The invoice belongs to another customer.', 'invoice')
  if (invoice && invoice.status !== 'draft') throw invalid('The invoice is no longer a draft.', 'invoice')
  const item: InvoiceItem = {
    id: account.newId('ii'),
    object: 'invoiceitem',
    date: account.now(),
    livemode: false,
    customer,
    invoice: id ?? null,
    amount,
    currency: text(params, 'currency') ?? 'usd',
    description: text(params, 'description') ?? null,
    metadata: record(params, 'metadata'),
  }
  account.store.put('invoiceitems', item.id, item)
  if (invoice) {
    setTotal(invoice, invoice.total + amount)
    save(account, invoice, 'invoice.updated')
  }
  return item
}

export function finalizeInvoice(account: Account, id: string): Invoice {
  const invoice = getInvoice(account, id)
  if (invoice.status !== 'draft') throw invalid('This invoice is already finalized.')
  const now = account.now()
  const owner = account.store.get<Customer>('customers', invoice.customer)
  if (owner) Object.assign(invoice, companyOf(account, owner))
  invoice.status = 'open'
  invoice.number = `PG-${String(account.store.all('invoices').indexOf(invoice) + 1).padStart(6, '0')}`
  invoice.status_transitions.finalized_at = now
  invoice.due_date = invoice.days_until_due === null ? null : now + invoice.days_until_due * DAY
  invoice.hosted_invoice_url = `${account.apiBase}/i/${invoice.id}`
  invoice.invoice_pdf = `${account.apiBase}/i/${invoice.id}/pdf`
  useBalance(account, invoice)
  save(account, invoice, 'invoice.finalized')
  if (invoice.amount_remaining <= 0) settle(account, invoice, now)
  return invoice
}

/** Applies the customer's credit first. */
function useBalance(account: Account, invoice: Invoice): void {
  const customer = account.store.get<Customer>('customers', invoice.customer)
  if (!customer) throw noSuch('customer', invoice.customer, 'customer')
  invoice.starting_balance = customer.balance
  customer.balance += Math.min(Math.max(0, -customer.balance), Math.max(0, invoice.total))
  invoice.ending_balance = customer.balance
  account.store.put('customers', customer.id, customer)
  setTotal(invoice, invoice.total)
}

/** Applies a credit note to an open invoice. Crediting the full remainder settles it. */
export function creditInvoice(account: Account, invoice: Invoice, cents: number): void {
  invoice.pre_payment_credit_notes_amount += cents
  setTotal(invoice, invoice.total)
  if (invoice.amount_remaining <= 0) settle(account, invoice, account.now())
  else save(account, invoice, 'invoice.updated')
}

export function sendInvoice(account: Account, id: string): Invoice {
  const invoice = getInvoice(account, id)
  if (invoice.collection_method !== 'send_invoice') throw invalid('Only send_invoice invoices can be sent.')
  if (invoice.status === 'draft') finalizeInvoice(account, id)
  if (invoice.status !== 'open' && invoice.status !== 'paid')
    throw invalid(`A ${invoice.status} invoice cannot be sent.`)
  account.announce('invoice.sent', invoice)
  return invoice
}

export function isPayable({ status }: Invoice): boolean {
  return status === 'open' || status === 'uncollectible'
}

export function voidInvoice(account: Account, id: string): Invoice {
  const invoice = getInvoice(account, id)
  if (invoice.status !== 'open') throw invalid(`A ${invoice.status} invoice cannot be voided.`)
  invoice.status = 'void'
  invoice.status_transitions.voided_at = account.now()
  setTotal(invoice, invoice.total)
  save(account, invoice, 'invoice.voided')
  return invoice
}

/** The merchant gives up. It is still owed and payable. */
export function markUncollectible(account: Account, id: string): Invoice {
  const invoice = getInvoice(account, id)
  if (invoice.status !== 'open') throw invalid(`A ${invoice.status} invoice cannot be marked as uncollectible.`)
  invoice.status = 'uncollectible'
  invoice.status_transitions.marked_uncollectible_at = account.now()
  save(account, invoice, 'invoice.marked_uncollectible')
  return invoice
}

export function getInvoice(account: Account, id: string): Invoice {
  const invoice = account.store.get<Invoice>('invoices', id)
  if (!invoice) throw noSuch('invoice', id)
  return invoice
}

export function settle(account: Account, invoice: Invoice, at: number): void {
  invoice.status = 'paid'
  invoice.next_payment_attempt = null
  invoice.status_transitions.paid_at = at
  setTotal(invoice, invoice.total)
  save(account, invoice, 'invoice.paid', at)
  account.announce('invoice.payment_succeeded', invoice, at)
}

export function setTotal(invoice: Invoice, total: number): void {
  const fromBalance = (invoice.ending_balance ?? invoice.starting_balance) - invoice.starting_balance
  const left = total - fromBalance - invoice.pre_payment_credit_notes_amount
  invoice.subtotal = total
  invoice.total = total
  invoice.amount_due = left
  invoice.amount_paid = invoice.status === 'paid' ? left : 0
  invoice.amount_remaining = invoice.status === 'paid' || invoice.status === 'void' ? 0 : left
}

export function draft(account: Account, owner: Customer, created: number): Invoice {
  const id = account.newId('in')
  return {
    id,
    object: 'invoice',
    created,
    livemode: false,
    customer: owner.id,
    customer_email: owner.email,
    ...companyOf(account, owner),
    status: 'draft',
    billing_reason: 'manual',
    collection_method: 'charge_automatically',
    auto_advance: false,
    currency: 'usd',
    description: null,
    amount_due: 0,
    amount_paid: 0,
    amount_remaining: 0,
    pre_payment_credit_notes_amount: 0,
    post_payment_credit_notes_amount: 0,
    starting_balance: 0,
    ending_balance: null,
    subtotal: 0,
    total: 0,
    due_date: null,
    number: null,
    hosted_invoice_url: null,
    invoice_pdf: null,
    metadata: {},
    parent: null,
    period_start: created,
    period_end: created,
    lines: { object: 'list', has_more: false, url: `/v1/invoices/${id}/lines`, data: [] },
    status_transitions: { finalized_at: null, marked_uncollectible_at: null, paid_at: null, voided_at: null },
    days_until_due: null,
  }
}

export function save(account: Account, invoice: Invoice, event: string, at?: number): void {
  account.store.put('invoices', invoice.id, invoice)
  account.announce(event, invoice, at)
}
