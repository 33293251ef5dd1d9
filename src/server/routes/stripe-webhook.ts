import { Hono } from 'hono'
import { receiveStripeEvent } from '../billing/stripe-events.ts'
import type { AppEnv } from '../http/app-env.ts'

/** Where Stripe tells what happened. Anything but a 2xx makes it come again. */
export const stripeWebhook = new Hono<AppEnv>().post('/webhooks/stripe', async (c) => {
  // Signed byte for byte: the body is read as it came.
  const payload = await c.req.text()
  await receiveStripeEvent(c.var.ctx, { payload, signature: c.req.header('Stripe-Signature') ?? '' })
  return c.json({ received: true })
})
