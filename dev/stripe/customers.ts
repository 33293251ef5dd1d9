import type { Account } from './account.ts'
import { defaultOf, getPaymentMethod, setDefault } from './cards.ts'
import { missing, noSuch } from './failure.ts'
import { list, type Params, record, text } from './form.ts'
import type { Customer, PaymentMethod, Subscription } from './objects.ts'
import { cancelSubscription } from './subscriptions.ts'

export function createCustomer(account: Account, params: Params): Customer {
  const customer: Customer = {
    id: account.newId('cus'),
    object: 'customer',
    created: account.now(),
    livemode: false,
    email: text(params, 'email') ?? null,
    name: text(params, 'name') ?? null,
    address: null,
    balance: 0,
    invoice_settings: { default_payment_method: null },
    metadata: record(params, 'metadata'),
  }
  account.store.put('customers', customer.id, customer)
  account.announce('customer.created', customer)
  return customer
}

export function getCustomer(account: Account, params: Params, id: string) {
  const customer = find<Customer>(account, 'customers', 'customer', id)
  const method = defaultOf(customer)
  if (!method || !list(params, 'expand').includes('invoice_settings.default_payment_method')) return customer
  return { ...customer, invoice_settings: { default_payment_method: getPaymentMethod(account, method) } }
}

export function updateCustomer(account: Account, params: Params, id: string): Customer {
  const customer = find<Customer>(account, 'customers', 'customer', id)
  const settings = (params.invoice_settings ?? {}) as Params
  if (settings.default_payment_method === '') return setDefault(account, customer, null)
  const method = text(settings, 'default_payment_method')
  if (!method) throw missing('invoice_settings[default_payment_method]')
  if (account.store.get<PaymentMethod>('payment_methods', method)?.customer !== id)
    throw noSuch('PaymentMethod', method, 'invoice_settings[default_payment_method]')
  return setDefault(account, customer, method)
}

/** For good, with its subscriptions. Its invoices stay. */
export function deleteCustomer(account: Account, _: Params, id: string) {
  find<Customer>(account, 'customers', 'customer', id)
  for (const one of account.store.all<Subscription>('subscriptions'))
    if (one.customer === id && one.status !== 'canceled') cancelSubscription(account, one.id)
  account.store.remove('customers', id)
  return { id, object: 'customer', deleted: true }
}

function find<T>(account: Account, collection: string, what: string, id: string): T {
  if (!id) throw missing('id')
  const object = account.store.get<T>(collection, id)
  if (!object) throw noSuch(what, id)
  return object
}
