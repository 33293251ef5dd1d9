import { receiveStripeEvent } from '../../billing/stripe-events.ts'
import { LOOKS_SIGNED } from '../../http/caller.ts'
import { route } from '../../http/route.ts'
import { counted } from '../../runtime/calls.ts'

const { stripe } = counted('webhook', { stripe: receiveStripeEvent })

/** Receives Stripe's events. Stripe retries after anything but a 2xx. */
export const stripeWebhook = [
  route('POST /webhooks/stripe', { access: 'public', signedBySender: true }).answer(async (c) => {
    // Read the raw body: its signature covers every byte.
    const payload = await c.req.text()
    const signature = c.req.header('Stripe-Signature') ?? ''
    // What a scanner posts raises no alert.
    const receive = LOOKS_SIGNED.test(signature) ? stripe : receiveStripeEvent
    await receive(c.var.ctx, { payload, signature })
    return c.json({ received: true })
  }),
]
