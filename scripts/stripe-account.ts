import Stripe from 'stripe'
import { PLANS, type Plan } from '../src/domain/money/plan.ts'
import { stripeAddress } from '../src/server/billing/stripe.ts'
import { priceLookupKey } from '../src/server/billing/stripe-objects.ts'
import { firstOrigin, type Settings } from './environment.ts'

/** Events that change a plan, a checkout, an invoice, or its payment. We also ask Stripe ourselves, but only every few hours. */
export const EVENTS: Stripe.WebhookEndpointCreateParams.EnabledEvent[] = [
  'charge.dispute.closed',
  'charge.dispute.created',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.updated',
  'charge.refunded',
  'checkout.session.completed',
  'checkout.session.expired',
  'credit_note.created',
  'customer.subscription.created',
  'customer.subscription.deleted',
  'customer.subscription.updated',
  'invoice.finalized',
  'invoice.marked_uncollectible',
  'invoice.paid',
  'invoice.payment_action_required',
  'invoice.payment_failed',
  'invoice.updated',
  'invoice.voided',
  'refund.failed',
  'refund.updated',
]

/** What must be on sale at Stripe. */
export const PRICES = PLANS.flatMap(({ type, name, dollarsPerMonth }: Plan) =>
  dollarsPerMonth ? [{ name, dollarsPerMonth, lookupKey: priceLookupKey(type) }] : [],
)
export type OurPrice = (typeof PRICES)[number]

/** Null if the key is the right kind for this environment. */
export function faultOfKey(key: string, environment: string | undefined): string | null {
  const [, mode] = /^[sr]k_(test|live)_/.exec(key) ?? []
  if (environment === 'production' && mode === 'test')
    return 'STRIPE_SECRET_KEY is a test key, so nobody would really pay. Set a live one.'
  if (environment !== 'production' && environment !== undefined && mode === 'live')
    return `STRIPE_SECRET_KEY is a live key, so ${environment} would charge cards. Set a test key.`
  return null
}

export function openStripe(key: string, settings: Settings): Stripe {
  return new Stripe(key, {
    ...stripeAddress(settings.STRIPE_API_BASE),
    httpClient: Stripe.createFetchHttpClient(),
    maxNetworkRetries: 2,
    timeout: 10_000,
    telemetry: false,
  })
}

export const webhookUrl = (settings: Settings): string => `${firstOrigin(settings)}/webhooks/stripe`

/** @returns null if Stripe has no endpoint at this address */
export async function findEndpoint(stripe: Stripe, url: string): Promise<Stripe.WebhookEndpoint | null> {
  for await (const endpoint of stripe.webhookEndpoints.list({ limit: 100 })) if (endpoint.url === url) return endpoint
  return null
}

/** The active one with our lookup key, right or wrong; null if there is none. */
export async function findPrice(stripe: Stripe, { lookupKey }: OurPrice): Promise<Stripe.Price | null> {
  return (await stripe.prices.list({ lookup_keys: [lookupKey], active: true, limit: 1 })).data[0] ?? null
}
