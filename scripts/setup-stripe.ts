import { readSecrets, settingsOf, writeSecrets } from './environment.ts'
import { EVENTS, faultOfKey, findEndpoint, findPrice, openStripe, PRICES, webhookUrl } from './stripe-account.ts'

/**
 * Creates the prices and the webhook endpoint once the file of secrets has Stripe's key. Leaves existing ones as they
 * are; the doctor says what is wrong with them.
 * @returns what is left to do by hand
 */
export async function prepareStripe(env: string): Promise<string | null> {
  const settings = settingsOf(env)
  const { STRIPE_SECRET_KEY: key, STRIPE_WEBHOOK_SECRET: signingSecret } = settings
  if (key === undefined) return null
  const fault = faultOfKey(key, env)
  if (fault) return fault
  const stripe = openStripe(key, settings)
  for (const ours of PRICES) {
    const { name, dollarsPerMonth, lookupKey } = ours
    if (await findPrice(stripe, ours)) continue
    await stripe.prices.create({
      currency: 'usd',
      unit_amount: dollarsPerMonth * 100,
      recurring: { interval: 'month' },
      lookup_key: lookupKey,
      product_data: { name: `Proving Ground ${name}` },
    })
  }
  const url = webhookUrl(settings)
  if (!(await findEndpoint(stripe, url))) {
    const { secret } = await stripe.webhookEndpoints.create({ url, enabled_events: EVENTS })
    if (secret) writeSecrets(env, { ...readSecrets(env), STRIPE_WEBHOOK_SECRET: secret })
    return null
  }
  if (signingSecret) return null
  // Stripe reveals the secret only when an endpoint is created.
  return `Copy the signing secret of ${url} from Stripe's dashboard (Developers, Webhooks) into the file of secrets, as STRIPE_WEBHOOK_SECRET.`
}
