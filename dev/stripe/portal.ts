import type { Account } from './account.ts'
import { addCard, defaultOf, methodOf, refusalOf, setDefault } from './cards.ts'
import { missing, noSuch } from './failure.ts'
import { type Params, text } from './form.ts'
import type { Customer, Invoice, PortalSession, Subscription } from './objects.ts'

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

/** What customers may change there, as the dashboard says. */
export function portalConfiguration({ store }: Account) {
  const allowed_updates = store.get<string[]>('portal', 'allowed_updates') ?? ['email', 'name', 'address', 'tax_id']
  return {
    id: 'bpc_local',
    object: 'billing_portal.configuration' as const,
    created: 0,
    livemode: false,
    active: true,
    is_default: true,
    features: { customer_update: { enabled: allowed_updates.length > 0, allowed_updates } },
  }
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

/** Whether a card that pays their plans or invoices fails. */
export function isCardDeclined(account: Account, customer: string): boolean {
  const methods = plansOf(account, customer).map((plan) => methodOf(account, plan))
  const paying = [...methods, defaultOf(account.store.get<Customer>('customers', customer))]
  return paying.some((method) => method !== null && refusalOf(account, method)?.code === 'card_declined')
}

/** Replaces their card with one that works, which becomes the default of their plans and invoices. */
export function replaceCard(account: Account, customer: string): void {
  const { store } = account
  const owner = store.get<Customer>('customers', customer)
  if (!owner) throw noSuch('customer', customer)
  const { id } = addCard(account, customer, 'good')
  setDefault(account, owner, id)
  for (const plan of plansOf(account, customer))
    store.put('subscriptions', plan.id, { ...plan, default_payment_method: id })
}

function plansOf(account: Account, customer: string): Subscription[] {
  return account.store.all<Subscription>('subscriptions').filter((subscription) => subscription.customer === customer)
}
