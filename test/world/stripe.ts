import type { Asked, Outcome } from '../../dev/stand-in/server.ts'
import { Store } from '../../dev/stand-in/store.ts'
import type { Account } from '../../dev/stripe/account.ts'
import { type Card, setCard } from '../../dev/stripe/cards.ts'
import { payCheckout } from '../../dev/stripe/checkout.ts'
import { isOnItsWay } from '../../dev/stripe/collecting.ts'
import { markUncollectible, voidInvoice } from '../../dev/stripe/invoices.ts'
import type {
  CheckoutSession,
  CreditNote,
  Customer,
  Invoice,
  StripeEvent,
  Subscription,
} from '../../dev/stripe/objects.ts'
import { payInvoice } from '../../dev/stripe/plan-invoices.ts'
import { type StripeFault, StripeServer } from '../../dev/stripe/stripe-server.ts'
import { cancelSubscription, getSubscription, updateSubscription } from '../../dev/stripe/subscriptions.ts'
import { signature } from '../../dev/stripe/webhooks.ts'
import { stripePayments } from '../../src/server/billing/stripe.ts'
import type { Payments } from '../../src/server/ports/payments.ts'
import { Recall } from './recall.ts'

const SECRET = 'whsec_local'
const BASE = 'http://stripe'
/** As late as Stripe renews or ends a plan here. */
export const LATEST_RENEWAL_S = 3_600

export type StripeWorld = ReturnType<typeof openStripe>

/**
 * The stand-in's Stripe and the product's own adapter with Stripe's SDK, without a network between them.
 * @param failed called when a call fails at Stripe
 */
export function openStripe(now: () => number, note: (state: string) => void, failed: () => void) {
  const store = new Store(null)
  const server = new StripeServer(store, BASE, now)
  const { account } = server
  const recall = new Recall(store, (request: Asked): Outcome => {
    const outcome = server.answer(request)
    store.commit()
    if (typeof outcome === 'string' || outcome.status >= 500) failed()
    return outcome
  })
  const fetcher = async (url: string | URL | Request, init: RequestInit = {}) => {
    const outcome = recall.exchange({
      method: init.method ?? 'GET',
      url: new URL(String(url)),
      headers: Object.fromEntries(new Headers(init.headers)),
      body: String(init.body ?? ''),
    })
    if (typeof outcome === 'string') throw new TypeError('fetch failed')
    return new Response(outcome.body, { status: outcome.status, headers: outcome.headers })
  }
  const adapter = stripePayments(
    { STRIPE_SECRET_KEY: 'sk_test_local', STRIPE_WEBHOOK_SECRET: SECRET, STRIPE_API_BASE: BASE },
    { fetcher: fetcher as typeof fetch },
  )
  const read =
    <Args extends unknown[], T>(name: string, call: (...args: Args) => Promise<T>) =>
    (...args: Args) =>
      recall.read(`${name} ${JSON.stringify(args)}`, () => call(...args))
  const payments: Payments = {
    ...adapter,
    findInvoice: read('invoice', adapter.findInvoice),
    listSubscriptions: read('subscriptions', adapter.listSubscriptions),
    findSubscription: read('subscription', adapter.findSubscription),
    getCheckout: read('checkout', adapter.getCheckout),
    listPlanInvoices: read('plan invoices', adapter.listPlanInvoices),
  }
  const lateRenewals = () =>
    store
      .entries('late_renewals')
      .map((one) => JSON.stringify(one))
      .join()
  const conditions = {
    losesWebhooks: false,
    set renewsLateBy(seconds: number) {
      server.renewsLateBy = seconds
    },
  }
  /** Someone acts at Stripe: the customer on its pages, or the operator in its dashboard. */
  function act<T>(what: (account: Account) => T): T {
    server.passTime()
    const result = what(account)
    store.commit()
    return result
  }
  const isRenewalLate = (id: string) =>
    act(() => getSubscription(account, id).items.data.some((item) => item.current_period_end * 1000 <= now()))
  return {
    payments,
    inject: (fault: StripeFault, times: number, after = 0) => server.faults.add({ fault }, times, after),
    /** How Stripe misbehaves at the moment. */
    conditions,
    heal() {
      server.faults.heal()
      conditions.losesWebhooks = false
      conditions.renewsLateBy = 0
    },
    passTime() {
      const before = lateRenewals()
      act(() => {})
      if (lateRenewals() !== before) note('renewal late')
    },
    /** Events since the last call, in order. */
    takeEvents(): StripeEvent[] {
      const ids = store.entries<{ event: string }>('deliveries').map(([id]) => id)
      for (const id of ids) store.remove('deliveries', id)
      store.commit()
      return ids.flatMap((id) => store.get<StripeEvent>('events', id) ?? [])
    },
    /** As Stripe sends it at that moment. */
    signed(event: StripeEvent) {
      const payload = JSON.stringify(event)
      return { payload, signature: signature(payload, SECRET, Math.floor(now() / 1000)) }
    },
    /** Stripe may forget an idempotency key early, as after its day is over. */
    forgetKeys() {
      for (const [key] of store.entries('idempotency_keys')) store.remove('idempotency_keys', key)
    },
    pay: (checkout: string, card: Card, answers: Record<string, string>) =>
      act(() => payCheckout(account, checkout, card, answers)),
    payInvoice: (id: string) =>
      act(() => {
        if (!isOnItsWay(account, id)) payInvoice(account, id)
      }),
    voidInvoice: (id: string) => act(() => voidInvoice(account, id)),
    markUncollectible: (id: string) => act(() => markUncollectible(account, id)),
    /** Its period is over, and Stripe has not begun the next one yet. */
    isRenewalLate,
    cancelNow(id: string) {
      if (isRenewalLate(id)) note('plan ended before its late renewal')
      act(() => cancelSubscription(account, id))
    },
    resume: (id: string) => act(() => updateSubscription(account, id, { cancel_at_period_end: 'false' })),
    setCard: (subscription: string, card: Card) => setCard(account, subscription, card),
    act,
    all: <T>(kind: string) => store.all<T>(kind),
    customers: () => store.all<Customer>('customers'),
    subscriptions: () => store.all<Subscription>('subscriptions'),
    checkouts: () => store.all<CheckoutSession>('checkout_sessions'),
    invoices: () => store.all<Invoice>('invoices'),
    creditNotes: () => store.all<CreditNote>('credit_notes'),
  }
}
