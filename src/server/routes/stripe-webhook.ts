import { Hono } from 'hono'
import { receiveStripeEvent } from '../billing/stripe-events.ts'
import type { AppEnv } from '../http/app-env.ts'

/** Receives Stripe's events. Stripe retries after anything but a 2xx. */
export const stripeWebhook = new Hono<AppEnv>().post('/webhooks/stripe', async (c) => {
  // Read the raw body: its signature covers every byte.
  const payload = await c.req.text()
  await receiveStripeEvent(c.var.ctx, { payload, signature: c.req.header('Stripe-Signature') ?? '' })
  return c.json({ received: true })
})
