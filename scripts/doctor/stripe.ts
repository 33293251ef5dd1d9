import Stripe from 'stripe'
import { PLANS } from '../../src/domain/money/plan.ts'
import { stripeAddress } from '../../src/server/billing/stripe.ts'
import { priceLookupKey } from '../../src/server/billing/stripe-objects.ts'
import type { Settings } from '../environment.ts'
import { type Finding, fail, ok, skip } from './check.ts'

/** Events that change a plan, a checkout, or an invoice. We also ask Stripe ourselves, but only every few hours. */
const EVENTS = [
  'checkout.session.completed',
  'checkout.session.expired',
  'credit_note.created',
  'customer.subscription.created',
  'customer.subscription.deleted',
  'customer.subscription.updated',
  'invoice.finalized',
  'invoice.marked_uncollectible',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice.updated',
  'invoice.voided',
]

export async function checkStripe(settings: Settings, environment?: string): Promise<Finding[]> {
  if (settings.STRIPE_SECRET_KEY === undefined) return [skip('stripe', 'Nothing is for sale, so it can wait.')]
  const [, mode] = /^[sr]k_(test|live)_/.exec(settings.STRIPE_SECRET_KEY) ?? []
  if (environment === 'production' && mode === 'test')
    return [fail('stripe', 'STRIPE_SECRET_KEY is a test key, so nobody would really pay. Set a live one.')]
  if (environment !== 'production' && environment !== undefined && mode === 'live')
    return [fail('stripe', `STRIPE_SECRET_KEY is a live key, so ${environment} would charge cards. Set a test key.`)]
  const stripe = new Stripe(settings.STRIPE_SECRET_KEY, {
    ...stripeAddress(settings.STRIPE_API_BASE),
    maxNetworkRetries: 2,
    timeout: 10_000,
    telemetry: false,
  })
  const origin = settings.SITE_ORIGINS?.split(',')[0]?.trim() ?? ''
  const webhook = await checkWebhook(stripe, `${origin}/webhooks/stripe`)
  if (settings.PLANS_FOR_SALE === 'true') return [webhook, ...(await checkPrices(stripe))]
  return [webhook, skip('prices', 'Plans are not for sale yet.')]
}

async function checkPrices(stripe: Stripe): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const { type, name, dollarsPerMonth } of PLANS) {
    if (!dollarsPerMonth) continue
    const key = priceLookupKey(type)
    const price = (await stripe.prices.list({ lookup_keys: [key], active: true, limit: 1 })).data[0]
    const isRight =
      price?.unit_amount === dollarsPerMonth * 100 && price.currency === 'usd' && price.recurring?.interval === 'month'
    const is = price
      ? `${price.unit_amount} ${price.currency} cents per ${price.recurring?.interval ?? 'purchase'}`
      : 'missing'
    findings.push(
      isRight
        ? ok(`price of ${name}`, `${dollarsPerMonth} USD a month`)
        : fail(
            `price of ${name}`,
            `It is ${is}. Create a price of ${dollarsPerMonth} USD a month with the lookup key ${key}.`,
          ),
    )
  }
  return findings
}

async function checkWebhook(stripe: Stripe, url: string): Promise<Finding> {
  for await (const endpoint of stripe.webhookEndpoints.list({ limit: 100 })) {
    if (endpoint.url !== url) continue
    if (endpoint.status !== 'enabled')
      return fail('webhook', `The endpoint ${url} is disabled. Enable it in the Stripe dashboard.`)
    const missing = endpoint.enabled_events.includes('*')
      ? []
      : EVENTS.filter((event) => !(endpoint.enabled_events as string[]).includes(event))
    return missing.length
      ? fail('webhook', `The endpoint ${url} doesn't send ${missing.join(', ')}. Add them in the Stripe dashboard.`)
      : ok('webhook', `${url} gets every event`)
  }
  return fail(
    'webhook',
    `Stripe has no endpoint ${url}. Create one in the Stripe dashboard and set STRIPE_WEBHOOK_SECRET.`,
  )
}
