import type { Account } from './account.ts'
import { methodOf, refusalOf } from './cards.ts'
import { invalid } from './failure.ts'
import { draft, getInvoice, isPayable, save, setTotal, settle } from './invoices.ts'
import type { Customer, Invoice, Product, Subscription } from './objects.ts'
import { applyPending } from './pending-updates.ts'

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
  const before = account.store.get<Invoice>('invoices', subscription.latest_invoice ?? '')
  invoice.period_start = before?.created ?? at
  invoice.lines.data.push({
    id: account.newId('il'),
    object: 'line_item',
    amount: item.price.unit_amount,
    currency: 'usd',
    description: `1 × ${account.store.get<Product>('products', item.price.product)?.name ?? 'Plan'}`,
    period: { start: item.current_period_start, end: item.current_period_end },
  })
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
  // The card's bank asks only when a plan changes.
  const refusal = refusalOf(account, methodOf(account, subscription))
  if (refusal && refusal.code !== 'authentication_required') {
    subscription.status = 'past_due'
    account.announce('invoice.payment_failed', invoice, at)
  } else settle(account, invoice, at)
}

/** Adds the lines to invoices from an older data folder, which lack them and name their own period. */
export function addMissingLines({ store }: Account): void {
  for (const invoice of store.all<Omit<Invoice, 'lines'> & { lines?: Invoice['lines'] }>('invoices')) {
    if (invoice.lines) continue
    const period = { start: invoice.period_start, end: invoice.period_end }
    const line = {
      id: `il_${invoice.id}`,
      object: 'line_item',
      amount: invoice.total,
      currency: 'usd',
      period,
    } as const
    const data = invoice.parent ? [{ ...line, description: 'Plan' }] : []
    const lines = { object: 'list', has_more: false, url: `/v1/invoices/${invoice.id}/lines`, data } as const
    store.put('invoices', invoice.id, { ...invoice, post_payment_credit_notes_amount: 0, lines })
  }
}

/** @throws Failure if the invoice is paid or void; the hosted page checks first */
export function payInvoice(account: Account, id: string): Invoice {
  const invoice = getInvoice(account, id)
  if (invoice.status === 'paid') throw invalid('Invoice is already paid')
  if (!isPayable(invoice)) throw invalid(`A ${invoice.status} invoice cannot be paid.`)
  settle(account, invoice, account.now())
  revive(account, invoice)
  applyPending(account, invoice)
  return invoice
}

/** Reactivates the plan if `paid` is its latest invoice. */
function revive(account: Account, paid: Invoice): void {
  const id = paid.parent?.subscription_details.subscription
  const subscription = id ? account.store.get<Subscription>('subscriptions', id) : undefined
  if (subscription?.status !== 'past_due' && subscription?.status !== 'unpaid') return
  // While Stripe only drafts, that is the draft of the last period.
  if (subscription.latest_invoice !== paid.id) return
  subscription.status = 'active'
  account.store.put('subscriptions', subscription.id, subscription)
  account.announce('customer.subscription.updated', subscription)
}
