import type { Account } from './account.ts'
import { invalid } from './failure.ts'
import { draft, getInvoice, isPayable, save, setTotal, settle } from './invoices.ts'
import type { Customer, Invoice, Subscription } from './objects.ts'

/** Makes the card that paid the first period fail at every renewal. */
export function declineAtRenewals(account: Account, subscription: Subscription): void {
  account.store.put('declined_cards', subscription.id, { since: account.now() })
}

/** Charges the card when a period starts. If it declines, the invoice stays open and the plan is past due. */
export function chargePlan(
  account: Account,
  subscription: Subscription,
  reason: Invoice['billing_reason'],
  at: number,
): void {
  const owner = account.store.get<Customer>('customers', subscription.customer)
  const item = subscription.items.data[0]
  if (!owner || !item) return
  const invoice = draft(account, owner, at)
  invoice.billing_reason = reason
  invoice.parent = {
    type: 'subscription_details',
    subscription_details: { subscription: subscription.id, metadata: subscription.metadata },
  }
  invoice.period_start = item.current_period_start
  invoice.period_end = item.current_period_end
  setTotal(invoice, item.price.unit_amount)
  subscription.latest_invoice = invoice.id
  // Stripe stops collecting after weeks without payment.
  if (subscription.status === 'unpaid') {
    save(account, invoice, 'invoice.created', at)
    return
  }
  invoice.status = 'open'
  invoice.number = `PG-${String(account.store.all('invoices').length + 1).padStart(6, '0')}`
  invoice.status_transitions.finalized_at = at
  invoice.hosted_invoice_url = `${account.apiBase}/i/${invoice.id}`
  invoice.invoice_pdf = `${account.apiBase}/i/${invoice.id}/pdf`
  save(account, invoice, 'invoice.finalized', at)
  if (account.store.get('declined_cards', subscription.id)) {
    subscription.status = 'past_due'
    account.announce('invoice.payment_failed', invoice, at)
  } else settle(account, invoice, at)
}

/** @throws Failure if the invoice is paid or void; the hosted page checks first */
export function payInvoice(account: Account, id: string): Invoice {
  const invoice = getInvoice(account, id)
  if (invoice.status === 'paid') throw invalid('Invoice is already paid')
  if (!isPayable(invoice)) throw invalid(`A ${invoice.status} invoice cannot be paid.`)
  settle(account, invoice, account.now())
  revive(account, invoice)
  return invoice
}

/** Reactivates the plan if `paid` is its latest finalized invoice. */
function revive(account: Account, paid: Invoice): void {
  const id = paid.parent?.subscription_details.subscription
  const subscription = id ? account.store.get<Subscription>('subscriptions', id) : undefined
  if (subscription?.status !== 'past_due' && subscription?.status !== 'unpaid') return
  const theirs = (invoice: Invoice) =>
    invoice.parent?.subscription_details.subscription === id && invoice.status !== 'draft'
  if (account.store.all<Invoice>('invoices').findLast(theirs)?.id !== paid.id) return
  subscription.status = 'active'
  account.store.put('subscriptions', subscription.id, subscription)
  account.announce('customer.subscription.updated', subscription)
}
