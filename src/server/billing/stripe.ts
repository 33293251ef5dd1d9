import Stripe from 'stripe'
import { AppError } from '../../domain/error.ts'
import { CustomerMissing, type Invoice, type Payments } from '../ports/payments.ts'
import type { Env } from '../settings/env.ts'
import { cards } from './stripe-cards.ts'
import { type Ask, findPrice, planChanges } from './stripe-changes.ts'
import { orNull, translated, withKey } from './stripe-errors.ts'
import { billInvoices } from './stripe-invoices.ts'
import { CHARGE_QUESTION, toCheckout, toEvent, toInvoice, toSubscription } from './stripe-objects.ts'
import { reversals } from './stripe-reversals.ts'

const TIMEOUT_MS = 10_000
const SIGNATURE_TOLERANCE_S = 300

type StripeEnv = Pick<Env, 'STRIPE_SECRET_KEY' | 'STRIPE_WEBHOOK_SECRET' | 'STRIPE_API_BASE'>

/** Someone deleted the customer in Stripe's dashboard. */
function noneIfMissing(error: unknown): [] {
  if (error instanceof CustomerMissing) return []
  throw error
}

/**
 * Together with the other stripe-* files, all that knows Stripe. Callers do the retrying, so the SDK tries
 * once.
 * @param options for tests: a shorter limit for calls, and a Stripe without a network
 */
export function stripePayments(
  env: StripeEnv,
  { timeoutMs = TIMEOUT_MS, fetcher }: { timeoutMs?: number | undefined; fetcher?: typeof fetch } = {},
): Payments {
  let client: Stripe | undefined
  const stripe = () => {
    // Invoices try again until it is set.
    if (!env.STRIPE_SECRET_KEY) throw new AppError('unavailable', "Payments aren't set up yet. Contact sales.")
    client ??= new Stripe(env.STRIPE_SECRET_KEY, {
      ...stripeAddress(env.STRIPE_API_BASE),
      httpClient: Stripe.createFetchHttpClient(fetcher),
      timeout: timeoutMs,
      maxNetworkRetries: 0,
      telemetry: false,
    })
    return client
  }
  const ask: Ask = (call) => translated(() => call(stripe()))

  return {
    findCustomer: ({ id, email }) =>
      ask(async (s) => {
        for await (const customer of s.customers.list({ email, limit: 100 }))
          if (customer.metadata.user_id === id) return customer.id
        return null
      }),

    createCustomer: ({ id, email }, idempotencyKey) =>
      ask(async (s) => {
        const customer = { email, metadata: { user_id: id } }
        return (await withKey(idempotencyKey, (key) => s.customers.create(customer, key))).id
      }),

    createCheckout: ({ customerId, userId, planType, successUrl, cancelUrl }, idempotencyKey) =>
      ask(async (s) => {
        const metadata = { user_id: userId, plan_type: planType }
        const page = {
          mode: 'subscription' as const,
          customer: customerId,
          client_reference_id: userId,
          line_items: [{ price: await findPrice(s, planType), quantity: 1 }],
          custom_fields: [CHARGE_QUESTION],
          // A company's name, address, and tax ID go onto the customer, and so onto the next invoices.
          tax_id_collection: { enabled: true },
          customer_update: { name: 'auto' as const, address: 'auto' as const },
          metadata,
          subscription_data: { metadata },
          success_url: successUrl,
          cancel_url: cancelUrl,
        }
        const create = (key: { idempotencyKey: string }) => s.checkout.sessions.create(page, key)
        // Keeps anyone from having two open pages for a plan.
        const findOpen = async () => {
          const { data } = await s.checkout.sessions.list({ customer: customerId, status: 'open', limit: 100 })
          return data.find((one) => one.metadata?.plan_type === planType) ?? null
        }
        return toCheckout(await withKey(idempotencyKey, create, findOpen))
      }),

    createPortal: ({ customerId, returnUrl }) =>
      ask(async (s) => (await s.billingPortal.sessions.create({ customer: customerId, return_url: returnUrl })).url),

    getCheckout: (id) => orNull(() => ask(async (s) => toCheckout(await s.checkout.sessions.retrieve(id)))),

    listOpenCheckouts: (customer) =>
      ask(async (s) => {
        const { data } = await s.checkout.sessions.list({ customer, status: 'open', limit: 100 })
        return data.map(({ id }) => id)
      }).catch(noneIfMissing),

    expireCheckout: (id) => ask(async (s) => toCheckout(await s.checkout.sessions.expire(id))),

    ...cards(ask),

    findSubscription: (id) =>
      orNull(() => ask(async (s) => toSubscription(await s.subscriptions.retrieve(id, { expand: ['schedule'] })))),

    listSubscriptions: (customer) =>
      ask(async (s) => (await s.subscriptions.list({ customer, limit: 10 })).data.map(({ id }) => id)).catch(
        noneIfMissing,
      ),

    findPlanPayPage: (subscription) =>
      ask(async (s) => {
        const { latest_invoice: latest } = await s.subscriptions.retrieve(subscription)
        if (!latest) return null
        const invoice = await s.invoices.retrieve(typeof latest === 'string' ? latest : latest.id)
        const { id, status } = invoice
        const finalize = (key: { idempotencyKey: string }) => s.invoices.finalizeInvoice(id, {}, key)
        // Stripe only drafts the next periods of an unpaid plan, and paying an older one wouldn't reactivate it.
        const page = status === 'draft' ? await withKey(`pay-plan-${id}`, finalize) : invoice
        return page.status === 'open' ? (page.hosted_invoice_url ?? null) : null
      }),

    wasPaidWithin: (subscription, { start, end }) =>
      ask(async (s) => {
        const { data } = await s.invoices.list({ subscription, status: 'paid', limit: 100 })
        // An upgrade's invoice pays for the upgrade, not for the period.
        const ofPeriods = data.filter((invoice) => invoice.billing_reason !== 'subscription_update')
        const times = ofPeriods.map((invoice) => toInvoice(invoice).paidAt ?? 0)
        return times.some((at) => start <= at && at < end)
      }),

    listPlanInvoices: (subscription) =>
      ask(async (s) => {
        const found: Invoice[] = []
        for await (const invoice of s.invoices.list({ subscription, limit: 100 })) found.push(toInvoice(invoice))
        return found
      }),

    cancelAtPeriodEnd: (id, idempotencyKey) =>
      ask(async (s) =>
        toSubscription(
          await withKey(idempotencyKey, (key) => s.subscriptions.update(id, { cancel_at_period_end: true }, key)),
        ),
      ),

    resume: (id, idempotencyKey) =>
      ask(async (s) => {
        await withKey(idempotencyKey, (key) => s.subscriptions.update(id, { cancel_at_period_end: false }, key))
      }),

    ...planChanges(ask),

    // Stripe no longer finds a plan that has ended.
    cancelNow: async (id) => {
      await orNull(() => ask((s) => s.subscriptions.cancel(id)))
    },

    ...billInvoices(ask),

    ...reversals(ask),

    async readEvent(payload, signature, receivedAt) {
      const verify = (secret: string) =>
        stripe().webhooks.constructEventAsync(
          payload,
          signature,
          secret.trim(),
          SIGNATURE_TOLERANCE_S,
          Stripe.createSubtleCryptoProvider(),
          receivedAt,
        )
      try {
        return toEvent(await Promise.any((env.STRIPE_WEBHOOK_SECRET ?? '').split(',').map(verify)))
      } catch (error) {
        const cause = error instanceof AggregateError ? error.errors[0] : error
        throw new AppError('malformed', 'The signature is not valid.', { cause })
      }
    },
  }
}

/** Empty for Stripe itself. */
export function stripeAddress(base: string | undefined) {
  if (!base) return {}
  const url = new URL(base)
  const protocol: 'http' | 'https' = url.protocol === 'http:' ? 'http' : 'https'
  return { host: url.hostname, port: url.port || (protocol === 'http' ? 80 : 443), protocol }
}
