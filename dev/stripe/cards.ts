import type { Account } from './account.ts'
import { noSuch } from './failure.ts'
import type { Customer, PaymentMethod, Subscription } from './objects.ts'

/**
 * What the card does after it paid the first period: works, fails at every charge, or has its bank ask each time. A
 * bank debit takes four days to pay usage, or to come back. It pays plans at once, to keep this short.
 */
export type Card = 'good' | 'declined_later' | 'bank_asks' | 'bank_debit' | 'bank_debit_returned'

export const DEBITS: Partial<Record<Card, { returned: boolean }>> = {
  bank_debit: { returned: false },
  bank_debit_returned: { returned: true },
}

const YEAR = 365 * 86_400

/** A card that its owner entered at checkout or in the portal. */
export function addCard(account: Account, customer: string, card: Card): PaymentMethod {
  const expires = new Date((account.now() + 3 * YEAR) * 1000)
  const method: PaymentMethod = {
    id: account.newId('pm'),
    object: 'payment_method',
    created: account.now(),
    livemode: false,
    customer,
    ...(DEBITS[card]
      ? { type: 'us_bank_account' as const }
      : {
          type: 'card' as const,
          card: {
            brand: 'visa' as const,
            last4: '4242',
            exp_month: expires.getUTCMonth() + 1,
            exp_year: expires.getUTCFullYear(),
          },
        }),
    metadata: {},
  }
  account.store.put('payment_methods', method.id, method)
  behave(account, method.id, card)
  account.announce('payment_method.attached', method)
  return method
}

/** From now on, the card that pays this plan behaves like that. */
export function setCard(account: Account, subscription: string, card: Card): void {
  const method = methodOf(account, account.store.get<Subscription>('subscriptions', subscription))
  if (!method) return
  const { card: _, ...others } = getPaymentMethod(account, method)
  if (DEBITS[card]) account.store.put('payment_methods', method, { ...others, type: 'us_bank_account' })
  behave(account, method, card)
}

function behave({ store, now }: Account, method: string, card: Card): void {
  for (const kind of ['declined_cards', 'asking_cards', 'bank_debits']) store.remove(kind, method)
  if (card === 'declined_later') store.put('declined_cards', method, { since: now })
  if (card === 'bank_asks') store.put('asking_cards', method, { since: now })
  if (DEBITS[card]) store.put('bank_debits', method, DEBITS[card])
}

/** What charges a plan. A plan from an older data folder has a card without an object, under its own ID. */
export function methodOf({ store }: Account, subscription: Subscription | undefined): string | null {
  if (!subscription) return null
  if (subscription.default_payment_method === undefined) return subscription.id
  return subscription.default_payment_method ?? defaultOf(store.get<Customer>('customers', subscription.customer))
}

/** What charges invoices without a plan. */
export function defaultOf(customer: Customer | undefined): string | null {
  return customer?.invoice_settings?.default_payment_method ?? null
}

/** Why a card doesn't pay, as in Stripe's `last_payment_error`; null if it does. */
export function refusalOf({ store }: Account, method: string | null): { code: string; message: string } | null {
  if (!method)
    return { code: 'payment_intent_payment_attempt_failed', message: 'The customer has no default payment method.' }
  if (store.get('declined_cards', method)) return { code: 'card_declined', message: 'Your card was declined.' }
  if (!store.get('asking_cards', method)) return null
  return {
    code: 'authentication_required',
    message: 'Your card was declined. This transaction requires authentication.',
  }
}

/** Whether its payments take days, and then come back. Null: it pays, or doesn't, at once. */
export function debitOf({ store }: Account, method: string | null): { returned: boolean } | null {
  return (method && store.get<{ returned: boolean }>('bank_debits', method)) || null
}

export function getPaymentMethod({ store }: Account, id: string): PaymentMethod {
  const method = store.get<PaymentMethod>('payment_methods', id)
  if (!method) throw noSuch('PaymentMethod', id)
  return method
}

/** Nothing can charge it anymore. */
export function detachCard(account: Account, id: string): PaymentMethod {
  const { store } = account
  const method = getPaymentMethod(account, id)
  for (const customer of store.all<Customer>('customers'))
    if (defaultOf(customer) === id) setDefault(account, customer, null)
  for (const subscription of store.all<Subscription>('subscriptions'))
    if (subscription.default_payment_method === id)
      store.put('subscriptions', subscription.id, { ...subscription, default_payment_method: null })
  const detached = { ...method, customer: null }
  store.put('payment_methods', id, detached)
  account.announce('payment_method.detached', detached)
  return detached
}

export function setDefault(account: Account, customer: Customer, method: string | null): Customer {
  const changed = { ...customer, invoice_settings: { default_payment_method: method } }
  account.store.put('customers', customer.id, changed)
  account.announce('customer.updated', changed)
  return changed
}
