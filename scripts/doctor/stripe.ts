import type Stripe from 'stripe'
import type { Settings } from '../environment.ts'
import { EVENTS, faultOfKey, findEndpoint, findPrice, openStripe, PRICES, webhookUrl } from '../stripe-account.ts'
import { type Finding, fail, ok, skip } from './check.ts'

export async function checkStripe(settings: Settings, environment?: string): Promise<Finding[]> {
  const { STRIPE_SECRET_KEY: key } = settings
  if (key === undefined) return [skip('stripe', 'Nothing is for sale, so it can wait.')]
  const fault = faultOfKey(key, environment)
  if (fault) return [fail('stripe', fault)]
  const stripe = openStripe(key, settings)
  const webhook = await checkWebhook(stripe, webhookUrl(settings))
  if (settings.PLANS_FOR_SALE === 'true')
    return [webhook, ...(await checkPrices(stripe)), checkSeller(settings), await checkPortal(stripe), RETRIES]
  return [webhook, skip('prices', 'Plans are not for sale yet.')]
}

/** No call of Stripe's API tells whether it retries a one-off invoice. */
const RETRIES = skip(
  'retries',
  "Stripe doesn't tell us. Look yourself: in its dashboard under Settings, Billing, Invoices, Advanced invoicing features, retries of one-time invoices must be on, and the last one must leave the invoice open: we take a void one as paid.",
)

/** Bookkeepers need them on what they file. */
function checkSeller({ SELLER_NAME, SELLER_ADDRESS, SELLER_TAX_ID }: Settings): Finding {
  const missing = Object.entries({ SELLER_NAME, SELLER_ADDRESS }).flatMap(([name, value]) => (value ? [] : [name]))
  if (missing.length)
    return fail(
      'seller',
      `Set ${missing.join(' and ')} in wrangler.toml: statements need your legal name and address. Give Stripe the same ones (Settings, Business).`,
    )
  return SELLER_TAX_ID
    ? ok('seller', `${SELLER_NAME}, ${SELLER_ADDRESS}, ${SELLER_TAX_ID}`)
    : ok('seller', `${SELLER_NAME}, ${SELLER_ADDRESS}. If you have a tax ID, set SELLER_TAX_ID.`)
}

/** Companies enter there what they need on their invoices. */
async function checkPortal(stripe: Stripe): Promise<Finding> {
  const { data } = await stripe.billingPortal.configurations.list({ is_default: true, limit: 1 })
  const allowed: string[] = data[0]?.features.customer_update.allowed_updates ?? []
  const missing = ['name', 'address', 'tax_id'].filter((one) => !allowed.includes(one))
  return data[0] && !missing.length
    ? ok('portal', 'customers can enter their company, address, and tax ID')
    : fail(
        'portal',
        "In Stripe's dashboard under Settings, Billing, Customer portal, let customers change their name, billing address, and tax ID.",
      )
}

async function checkPrices(stripe: Stripe): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const ours of PRICES) {
    const { name, dollarsPerMonth, lookupKey } = ours
    const price = await findPrice(stripe, ours)
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
            `It is ${is}. Create a price of ${dollarsPerMonth} USD a month with the lookup key ${lookupKey}.`,
          ),
    )
  }
  return findings
}

async function checkWebhook(stripe: Stripe, url: string): Promise<Finding> {
  const endpoint = await findEndpoint(stripe, url)
  if (!endpoint)
    return fail(
      'webhook',
      `Stripe has no endpoint ${url}. Create one in the Stripe dashboard and set STRIPE_WEBHOOK_SECRET.`,
    )
  if (endpoint.status !== 'enabled')
    return fail('webhook', `The endpoint ${url} is disabled. Enable it in the Stripe dashboard.`)
  const enabled: string[] = endpoint.enabled_events
  const missing = enabled.includes('*') ? [] : EVENTS.filter((event) => !enabled.includes(event))
  return missing.length
    ? fail('webhook', `The endpoint ${url} doesn't send ${missing.join(', ')}. Add them in the Stripe dashboard.`)
    : ok('webhook', `${url} gets every event`)
}
