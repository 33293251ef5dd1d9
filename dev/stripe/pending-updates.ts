import type { Account } from './account.ts'
import { voidInvoice } from './invoices.ts'
import type { Customer, Invoice, Price, Subscription } from './objects.ts'

/** Stripe's limit, unless the period ends earlier. */
const WAITS_FOR = 23 * 3600

/** Keeps a change until its invoice is paid. */
export function keepPending(
  account: Account,
  subscription: Subscription,
  price: Price,
  cancelAtPeriodEnd: boolean | undefined,
): Subscription {
  const [item] = subscription.items.data
  if (!item) return subscription
  subscription.pending_update = {
    expires_at: Math.min(account.now() + WAITS_FOR, item.current_period_end),
    cancel_at_period_end: cancelAtPeriodEnd ?? null,
    subscription_items: [{ id: item.id, price }],
  }
  save(account, subscription, 'updated')
  return subscription
}

/** Follows the payment of an invoice. */
export function applyPending(account: Account, paid: Invoice): void {
  const id = paid.parent?.subscription_details.subscription
  const subscription = id ? account.store.get<Subscription>('subscriptions', id) : undefined
  if (!subscription?.pending_update || subscription.latest_invoice !== paid.id) return
  const { cancel_at_period_end, subscription_items } = subscription.pending_update
  for (const item of subscription.items.data) item.price = subscription_items[0]?.price ?? item.price
  if (cancel_at_period_end === false) {
    subscription.cancel_at_period_end = false
    subscription.cancel_at = null
  }
  subscription.pending_update = null
  save(account, subscription, 'pending_update_applied')
  save(account, subscription, 'updated')
}

/** Nobody paid in time, or someone voided the invoice. */
export function expirePendingUpdates(account: Account): void {
  for (const subscription of account.store.all<Subscription>('subscriptions')) {
    const { pending_update, latest_invoice } = subscription
    if (!pending_update) continue
    const invoice = account.store.get<Invoice>('invoices', latest_invoice ?? '')
    if (pending_update.expires_at <= account.now() || invoice?.status !== 'open') expirePending(account, subscription)
  }
}

/** Discards the change, voids its invoice, and gives back the credit that the invoice used. */
export function expirePending(account: Account, subscription: Subscription): void {
  if (!subscription.pending_update) return
  const invoice = account.store.get<Invoice>('invoices', subscription.latest_invoice ?? '')
  if (invoice?.status === 'open') {
    voidInvoice(account, invoice.id)
    const owner = account.store.get<Customer>('customers', invoice.customer) as Customer
    owner.balance -= (invoice.ending_balance ?? invoice.starting_balance) - invoice.starting_balance
    account.store.put('customers', owner.id, owner)
  }
  subscription.pending_update = null
  save(account, subscription, 'pending_update_expired')
  save(account, subscription, 'updated')
}

function save(account: Account, subscription: Subscription, event: string): void {
  account.store.put('subscriptions', subscription.id, subscription)
  account.announce(`customer.subscription.${event}`, subscription)
}
