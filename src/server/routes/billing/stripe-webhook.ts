import { Hono } from 'hono'
import { receiveStripeEvent } from '../../billing/stripe-events.ts'
import { counted } from '../../calls.ts'
import type { AppEnv } from '../../http/app-env.ts'

const { stripe } = counted('webhook', { stripe: receiveStripeEvent })

/** What Stripe sends. A scanner that posts anything else says nothing about our secret, so it raises no alert. */
const LOOKS_SIGNED = /^t=\d+,(.+,)?v1=[\da-f]{64}(,|$)/

/** Receives Stripe's events. Stripe retries after anything but a 2xx. */
export const stripeWebhook = new Hono<AppEnv>().post('/webhooks/stripe', async (c) => {
  // Read the raw body: its signature covers every byte.
  const payload = await c.req.text()
  const signature = c.req.header('Stripe-Signature') ?? ''
  const receive = LOOKS_SIGNED.test(signature) ? stripe : receiveStripeEvent
  await receive(c.var.ctx, { payload, signature })
  return c.json({ received: true })
})
