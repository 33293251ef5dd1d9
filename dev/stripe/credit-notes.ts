import type { Account } from './account.ts'
import { invalid, missing } from './failure.ts'
import { integer, list, type Params, record, text } from './form.ts'
import { creditInvoice, getInvoice } from './invoices.ts'
import type { CreditNote, Customer } from './objects.ts'

/** Reduces what is left to pay of an invoice. The rest goes to the customer's balance. */
export function createCreditNote(account: Account, params: Params): CreditNote {
  const id = text(params, 'invoice')
  if (!id) throw missing('invoice')
  const invoice = getInvoice(account, id)
  const lines = list(params, 'lines') as Params[]
  const amount = lines.reduce(
    (sum, line) => sum + (integer(line, 'unit_amount') ?? 0) * (integer(line, 'quantity') ?? 0),
    0,
  )
  const toBalance = integer(params, 'credit_amount') ?? 0
  if (!(amount > 0)) throw missing('lines')
  if (invoice.status !== 'open' && invoice.status !== 'paid')
    throw invalid(`A ${invoice.status} invoice cannot be credited.`, 'invoice')
  const before = account.store.all<CreditNote>('credit_notes').filter((note) => note.invoice === id)
  const creditable = invoice.total - before.reduce((sum, note) => sum + note.amount, 0)
  const reduced = Math.min(amount, invoice.amount_remaining)
  if (toBalance !== amount - reduced || amount > creditable)
    throw invalid('What is more than is left to pay must go somewhere, and no more than the total can be credited.')
  const note: CreditNote = {
    id: account.newId('cn'),
    object: 'credit_note',
    created: account.now(),
    livemode: false,
    customer: invoice.customer,
    invoice: id,
    amount,
    currency: 'usd',
    memo: text(params, 'memo') ?? null,
    status: 'issued',
    type: reduced === 0 ? 'post_payment' : reduced === amount ? 'pre_payment' : 'mixed',
    pre_payment_amount: reduced,
    post_payment_amount: toBalance,
    metadata: record(params, 'metadata'),
    lines: { object: 'list', data: lines.map((line) => ({ description: text(line, 'description') ?? '' })) },
  }
  account.store.put('credit_notes', note.id, note)
  if (toBalance) {
    const customer = account.store.get<Customer>('customers', invoice.customer) as Customer
    customer.balance -= toBalance
    account.store.put('customers', customer.id, customer)
    account.announce('customer.updated', customer)
    invoice.post_payment_credit_notes_amount += toBalance
    account.store.put('invoices', invoice.id, invoice)
  }
  if (reduced) creditInvoice(account, invoice, reduced)
  account.announce('credit_note.created', note)
  return note
}
