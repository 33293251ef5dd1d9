import type { Account } from './account.ts'
import { detachCard, getPaymentMethod } from './cards.ts'
import { createCheckout, expireCheckout, getCheckout } from './checkout.ts'
import { finalize, updateInvoice, withPayments } from './collecting.ts'
import { createCreditNote } from './credit-notes.ts'
import { createCustomer, deleteCustomer, getCustomer, updateCustomer } from './customers.ts'
import { missing } from './failure.ts'
import { list, type Params, text } from './form.ts'
import {
  createInvoice,
  createInvoiceItem,
  getInvoice,
  markUncollectible,
  sendInvoice,
  voidInvoice,
} from './invoices.ts'
import { listPage } from './list-page.ts'
import type {
  CheckoutSession,
  CreditNote,
  Customer,
  Dispute,
  Invoice,
  InvoiceItem,
  Price,
  Refund,
  StripeEvent,
  Subscription,
} from './objects.ts'
import { createPortal, portalConfiguration } from './portal.ts'
import { previewUpdate } from './prorations.ts'
import { createRefund, listInvoicePayments } from './reversals.ts'
import { createSchedule, getSchedule, releaseSchedule, updateSchedule } from './schedules.ts'
import { cancelSubscription, changedPrice, getSubscription, updateSubscription } from './subscriptions.ts'

/** What a call asks for to learn how an invoice's payment went. */
const PAYMENTS = 'payments.data.payment.payment_intent'

type Call = (account: Account, params: Params, id: string) => unknown

/** Every call that the product and its tests make. Like Stripe, we reject any other URL as unrecognized. */
const CALLS: Record<string, Call> = {
  'POST /v1/customers': createCustomer,
  'GET /v1/customers': (account, params) =>
    listPage(account.store.all<Customer>('customers'), params, '/v1/customers', equal(params, 'email')),
  'DELETE /v1/customers/:id': deleteCustomer,
  'GET /v1/customers/:id': getCustomer,
  'POST /v1/customers/:id': updateCustomer,
  'POST /v1/payment_methods/:id/detach': (account, _, id) => detachCard(account, id),
  'GET /v1/prices': (account, params) => {
    const keys = list(params, 'lookup_keys')
    const wanted = (price: Price) => keys.length === 0 || keys.includes(price.lookup_key ?? '')
    return listPage(account.store.all<Price>('prices'), params, '/v1/prices', wanted)
  },
  'POST /v1/checkout/sessions': (account, params) => createCheckout(account, params),
  'GET /v1/checkout/sessions': (account, params) =>
    listPage(
      account.store.all<CheckoutSession>('checkout_sessions'),
      params,
      '/v1/checkout/sessions',
      equal(params, 'customer', 'status'),
    ),
  'GET /v1/checkout/sessions/:id': (account, _, id) => getCheckout(account, id),
  'POST /v1/checkout/sessions/:id/expire': (account, _, id) => expireCheckout(account, id),
  'POST /v1/billing_portal/sessions': (account, params) => createPortal(account, params),
  // As its operator set it up in the dashboard.
  'GET /v1/billing_portal/configurations': (account, params) =>
    listPage([portalConfiguration(account)], params, '/v1/billing_portal/configurations'),
  'GET /v1/subscriptions': (account, params) => {
    const status = text(params, 'status')
    const shown = (s: Subscription) => status === 'all' || s.status === status || (!status && s.status !== 'canceled')
    const ours = equal(params, 'customer')
    const wanted = (s: Subscription) => shown(s) && ours(s)
    return listPage(account.store.all<Subscription>('subscriptions'), params, '/v1/subscriptions', wanted)
  },
  'GET /v1/subscriptions/:id': (account, params, id) => {
    const subscription = getSubscription(account, id)
    const wanted = list(params, 'expand')
    const { schedule, default_payment_method: method } = subscription
    return {
      ...subscription,
      ...(wanted.includes('schedule') && schedule ? { schedule: getSchedule(account, schedule) } : {}),
      ...(wanted.includes('default_payment_method') && method
        ? { default_payment_method: getPaymentMethod(account, method) }
        : {}),
    }
  },
  'POST /v1/subscriptions/:id': (account, params, id) => updateSubscription(account, id, params),
  'DELETE /v1/subscriptions/:id': (account, _, id) => cancelSubscription(account, id),
  'POST /v1/subscription_schedules': (account, params) => createSchedule(account, params),
  'POST /v1/subscription_schedules/:id': updateSchedule,
  'POST /v1/subscription_schedules/:id/release': (account, _, id) => releaseSchedule(account, id),
  'POST /v1/invoices/create_preview': previewInvoice,
  'POST /v1/invoices': (account, params) => createInvoice(account, params),
  'GET /v1/invoices': (account, params) =>
    listPage(
      account.store.all<Invoice>('invoices'),
      params,
      '/v1/invoices',
      (invoice) => ofSubscription(params)(invoice) && equal(params, 'customer', 'status', 'collection_method')(invoice),
    ),
  'GET /v1/invoices/:id': (account, params, id) => {
    const invoice = getInvoice(account, id)
    return list(params, 'expand').includes(PAYMENTS) ? withPayments(account, invoice) : invoice
  },
  'POST /v1/invoices/:id': updateInvoice,
  'POST /v1/invoices/:id/finalize': finalize,
  'POST /v1/invoices/:id/send': (account, _, id) => sendInvoice(account, id),
  'POST /v1/invoices/:id/mark_uncollectible': (account, _, id) => markUncollectible(account, id),
  'POST /v1/invoices/:id/void': (account, _, id) => voidInvoice(account, id),
  'POST /v1/invoiceitems': (account, params) => createInvoiceItem(account, params),
  'GET /v1/invoiceitems': (account, params) =>
    listPage(
      account.store.all<InvoiceItem>('invoiceitems'),
      params,
      '/v1/invoiceitems',
      equal(params, 'invoice', 'customer'),
    ),
  'POST /v1/credit_notes': (account, params) => createCreditNote(account, params),
  'GET /v1/credit_notes': (account, params) =>
    listPage(
      account.store.all<CreditNote>('credit_notes'),
      params,
      '/v1/credit_notes',
      equal(params, 'invoice', 'customer'),
    ),
  'GET /v1/invoice_payments': listInvoicePayments,
  'POST /v1/refunds': (account, params) => createRefund(account, params),
  'GET /v1/refunds': (account, params) =>
    listPage(account.store.all<Refund>('refunds'), params, '/v1/refunds', equal(params, 'payment_intent')),
  'GET /v1/disputes': (account, params) =>
    listPage(account.store.all<Dispute>('disputes'), params, '/v1/disputes', equal(params, 'payment_intent')),
  'POST /v1/webhook_endpoints': createWebhookEndpoint,
  'GET /v1/webhook_endpoints': (account, params) =>
    listPage(account.store.all<WebhookEndpoint>('webhook_endpoints'), params, '/v1/webhook_endpoints'),
  'GET /v1/events': (account, params) =>
    listPage(account.store.all<StripeEvent>('events'), params, '/v1/events', equal(params, 'type')),
}

/** The calls on one object, whose path names it. */
const BY_ID = Object.entries(CALLS)
  .filter(([key]) => key.includes(':id'))
  .map(([key, call]) => ({ pattern: new RegExp(`^${key.replace(':id', '([^/]+)')}$`), call }))

export function findCall(method: string, path: string): { call: Call; id: string } | null {
  const asked = `${method} ${path}`
  const exact = CALLS[asked]
  if (exact) return { call: exact, id: '' }
  for (const { pattern, call } of BY_ID) {
    const id = pattern.exec(asked)?.[1]
    if (id) return { call, id: decodeURIComponent(id) }
  }
  return null
}

function previewInvoice(account: Account, params: Params) {
  const id = text(params, 'subscription')
  const details = params.subscription_details
  const price =
    typeof details === 'object' && !Array.isArray(details) ? changedPrice(account, details as Params) : undefined
  if (!id) throw missing('subscription')
  if (!price) throw missing('subscription_details[items]')
  return previewUpdate(account, params, getSubscription(account, id), price)
}

/** For `npm run doctor`. Where we send events depends on how the stand-in was started. */
type WebhookEndpoint = {
  id: string
  object: 'webhook_endpoint'
  url: string
  enabled_events: string[]
  status: 'enabled'
}

function createWebhookEndpoint(account: Account, params: Params): WebhookEndpoint {
  const [url, enabled_events] = [text(params, 'url'), list(params, 'enabled_events').map(String)]
  if (!url) throw missing('url')
  if (!enabled_events.length) throw missing('enabled_events')
  const id = account.newId('we')
  const endpoint: WebhookEndpoint = { id, object: 'webhook_endpoint', url, enabled_events, status: 'enabled' }
  account.store.put('webhook_endpoints', id, endpoint)
  return endpoint
}

function ofSubscription(params: Params): (invoice: Invoice) => boolean {
  const wanted = text(params, 'subscription')
  return ({ parent }) => wanted === undefined || parent?.subscription_details.subscription === wanted
}

/** Matches each field against the parameter of the same name. */
function equal(params: Params, ...fields: string[]): (object: object) => boolean {
  return (object) =>
    fields.every((field) => {
      const wanted = text(params, field)
      return wanted === undefined || (object as Record<string, unknown>)[field] === wanted
    })
}
