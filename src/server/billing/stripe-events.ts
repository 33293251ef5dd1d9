import { eq } from 'drizzle-orm'
import { stripeEvents } from '../../../db/schema/billing.ts'
import type { Context } from '../runtime/context.ts'
import { syncInvoice } from './bills/invoice-sync.ts'
import { syncCheckout } from './plans/checkout-sync.ts'
import { syncPlan } from './plans/plan-sync.ts'

/**
 * Handles a webhook. We act on the object as it is now, never on the event, so that events may come late,
 * twice and in any order. The event's id is stored in the same batch, so that an event that failed halfway is
 * processed again.
 * @throws malformed unless Stripe signed it
 */
export async function receiveStripeEvent(ctx: Context, input: { payload: string; signature: string }): Promise<void> {
  const event = await ctx.payments.readEvent(input.payload, input.signature, ctx.now())
  const [known] = await ctx.db.select().from(stripeEvents).where(eq(stripeEvents.id, event.id))
  if (known) return
  const note = ctx.db
    .insert(stripeEvents)
    .values({ id: event.id, type: event.type, receivedAt: ctx.now() })
    .onConflictDoNothing()
  if (event.about === 'subscription') {
    // The plan first: it says what the invoice pays for.
    await syncPlan(ctx, event.objectId, event.invoiceId ? [] : [note])
    if (event.invoiceId) await syncInvoice(ctx, event.invoiceId, [note])
  } else if (event.about === 'checkout') await syncCheckout(ctx, event.objectId, [note])
  else if (event.about === 'invoice') await syncInvoice(ctx, event.objectId, [note])
  else if (event.about === 'payment') {
    const { syncPayment } = await import('./bills/reversals.ts')
    await syncPayment(ctx, event.objectId, [note])
  } else await note
}
