import type { Account } from './account.ts'
import { missing, noSuch } from './failure.ts'
import { type Params, text } from './form.ts'
import type { Customer, Invoice, PortalSession, Subscription } from './objects.ts'
import { setCard } from './plan-invoices.ts'

export function createPortal(account: Account, params: Params): PortalSession {
  const customer = text(params, 'customer')
  if (!customer) throw missing('customer')
  if (!account.store.get<Customer>('customers', customer)) throw noSuch('customer', customer, 'customer')
  const id = account.newId('bps')
  const session: PortalSession = {
    id,
    object: 'billing_portal.session',
    created: account.now(),
    livemode: false,
    customer,
    return_url: text(params, 'return_url') ?? null,
    url: `${account.apiBase}/p/session/${id}`,
  }
  account.store.put('portal_sessions', id, session)
  return session
}

export function getPortal(account: Account, id: string): PortalSession {
  const session = account.store.get<PortalSession>('portal_sessions', id)
  if (!session) throw noSuch('billing_portal.session', id)
  return session
}

/** The customer's invoices with a page, newest first. */
export function listReceipts(account: Account, customer: string): Invoice[] {
  const theirs = (invoice: Invoice) => invoice.customer === customer && invoice.hosted_invoice_url !== null
  return account.store.all<Invoice>('invoices').filter(theirs).reverse()
}

/** Whether the card they pay plans with fails at renewals. */
export function isCardDeclined(account: Account, customer: string): boolean {
  return plansOf(account, customer).some(({ id }) => account.store.get('declined_cards', id) !== undefined)
}

/** Replaces their card with one that works. */
export function replaceCard(account: Account, customer: string): void {
  for (const { id } of plansOf(account, customer)) setCard(account, id, 'good')
}

function plansOf(account: Account, customer: string): Subscription[] {
  return account.store.all<Subscription>('subscriptions').filter((subscription) => subscription.customer === customer)
}
