import type { Account } from './account.ts'
import type { Card } from './cards.ts'
import { type CompanyFields, setCompany } from './companies.ts'
import { invalid, missing, noSuch } from './failure.ts'
import { flag, list, type Params, record, text } from './form.ts'
import type { CheckoutSession, Customer, CustomField, Price } from './objects.ts'
import { startSubscription } from './subscriptions.ts'

const DAY = 86_400

type Stored = CheckoutSession & { price: string; subscription_metadata: Record<string, string> }

export function createCheckout(account: Account, params: Params): CheckoutSession {
  if (text(params, 'mode') !== 'subscription') throw invalid('Only mode=subscription is offered here.', 'mode')
  const customer = text(params, 'customer')
  const success = text(params, 'success_url')
  const item = list(params, 'line_items')[0] as Params | undefined
  const priceId = item && text(item, 'price')
  if (!customer) throw missing('customer')
  if (!success) throw missing('success_url')
  if (!priceId) throw missing('line_items[0][price]')
  if (!account.store.get<Customer>('customers', customer)) throw noSuch('customer', customer, 'customer')
  const collectsTaxId = flag((params.tax_id_collection ?? {}) as Params, 'enabled') ?? false
  // Stripe would overwrite a customer's name, so it requires our permission.
  if (collectsTaxId && text((params.customer_update ?? {}) as Params, 'name') !== 'auto')
    throw invalid('Tax ID collection requires updating business name on the customer.', 'customer_update[name]')
  const price = account.store.get<Price>('prices', priceId)
  if (!price) throw noSuch('price', priceId)
  const id = account.newId('cs')
  const data = params.subscription_data
  const session: Stored = {
    id,
    object: 'checkout.session',
    created: account.now(),
    livemode: false,
    mode: 'subscription',
    status: 'open',
    payment_status: 'unpaid',
    customer,
    client_reference_id: text(params, 'client_reference_id') ?? null,
    subscription: null,
    invoice: null,
    success_url: success,
    cancel_url: text(params, 'cancel_url') ?? null,
    expires_at: account.now() + DAY,
    amount_total: price.unit_amount,
    currency: 'usd',
    custom_fields: list(params, 'custom_fields').map((field) => toCustomField(field as Params)),
    tax_id_collection: { enabled: collectsTaxId },
    metadata: record(params, 'metadata'),
    url: `${account.apiBase}/c/pay/${id}`,
    price: price.id,
    subscription_metadata: typeof data === 'object' && !Array.isArray(data) ? record(data, 'metadata') : {},
  }
  account.store.put('checkout_sessions', id, session)
  return session
}

export function expireCheckout(account: Account, id: string): CheckoutSession {
  const session = getCheckout(account, id)
  if (session.status !== 'open')
    throw invalid(`Only Checkout Sessions with a status in ["open"] can be expired. This one is ${session.status}.`)
  expire(account, session, account.now())
  return session
}

function toCustomField(field: Params): CustomField {
  const key = text(field, 'key')
  const custom = text((field.label ?? {}) as Params, 'custom')
  const options = list((field.dropdown ?? {}) as Params, 'options').map((option) => {
    const [label, value] = [text(option as Params, 'label'), text(option as Params, 'value')]
    if (!label || label.length > 100) throw invalid('An option has a label of at most 100 characters.', 'custom_fields')
    if (!value || !/^[A-Za-z0-9]{1,100}$/.test(value))
      throw invalid('The value of an option is alphanumeric.', 'custom_fields')
    return { label, value }
  })
  if (!key || !/^[A-Za-z0-9]{1,200}$/.test(key)) throw invalid('The key of a field is alphanumeric.', 'custom_fields')
  if (!custom || custom.length > 50) throw invalid('A label has at most 50 characters.', 'custom_fields')
  if (text(field, 'type') !== 'dropdown' || !options.length) throw missing('custom_fields[0][dropdown][options]')
  return {
    key,
    label: { type: 'custom', custom },
    optional: text(field, 'optional') === 'true',
    type: 'dropdown',
    dropdown: { options, value: null },
  }
}

/**
 * Handles the "Pay" buttons. A second press changes nothing.
 * @param answers to the page's questions, by key
 * @param company what someone who pays as a business enters
 */
export function payCheckout(
  account: Account,
  id: string,
  card: Card,
  answers: Record<string, string> = {},
  company: CompanyFields = {},
): CheckoutSession {
  const session = getCheckout(account, id)
  if (session.status === 'complete') return session
  if (session.status === 'expired') throw invalid('This checkout session has expired.')
  for (const { key, optional, dropdown } of session.custom_fields ?? []) {
    const answer = answers[key] || null
    if (answer === null && !optional) throw missing(key)
    if (answer !== null && !dropdown.options.some(({ value }) => value === answer))
      throw invalid(`${answer} isn't an option of ${key}.`)
    dropdown.value = answer
  }
  // Before the first invoice, which has it as well.
  if (session.tax_id_collection?.enabled) setCompany(account, session.customer, company)
  const price = account.store.get<Price>('prices', session.price) as Price
  const subscription = startSubscription(account, session, price, session.subscription_metadata, card)
  session.status = 'complete'
  session.payment_status = 'paid'
  session.subscription = subscription.id
  session.invoice = subscription.latest_invoice
  session.url = null
  account.store.put('checkout_sessions', id, session)
  account.announce('checkout.session.completed', session)
  return session
}

export function expireCheckouts(account: Account): void {
  for (const session of account.store.all<CheckoutSession>('checkout_sessions'))
    if (session.status === 'open' && session.expires_at <= account.now()) expire(account, session, session.expires_at)
}

export function getCheckout(account: Account, id: string): Stored {
  const session = account.store.get<Stored>('checkout_sessions', id)
  if (!session) throw noSuch('checkout.session', id)
  return session
}

function expire(account: Account, session: CheckoutSession, at: number): void {
  session.status = 'expired'
  session.url = null
  account.store.put('checkout_sessions', session.id, session)
  account.announce('checkout.session.expired', session, at)
}
