import { eq } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../../db/client.ts'
import { checkouts } from '../../../../db/schema/billing.ts'
import { HOUR_MS } from '../../../domain/instant.ts'
import type { Checkout } from '../../ports/payments.ts'
import type { Context } from '../../runtime/context.ts'
import { syncPlan } from './plan-sync.ts'

/**
 * Stores how a checkout ended: with a subscription or without. An open one is checked again in an hour. One that Stripe
 * no longer knows, for example because its test data was deleted, is over.
 * @returns null for such a one
 */
export async function syncCheckout(
  ctx: Context,
  stripeSessionId: string,
  also: Query[] = [],
): Promise<Checkout | null> {
  const checkout = await ctx.payments.getCheckout(stripeSessionId)
  const status = checkout?.status ?? 'expired'
  const note = ctx.db
    .update(checkouts)
    .set(status === 'open' ? { checkAt: ctx.now() + HOUR_MS } : { status, checkAt: null })
    .where(eq(checkouts.stripeSessionId, stripeSessionId))
  if (checkout?.subscriptionId) {
    const { checkoutCardQueries } = await import('../bills/charge-consent.ts')
    // Before the note: a checkout counts once.
    const card = await checkoutCardQueries(ctx, stripeSessionId, checkout)
    await syncPlan(ctx, checkout.subscriptionId, [...card, note, ...also])
  } else await writeBatch(ctx.db, [note, ...also])
  return checkout
}
