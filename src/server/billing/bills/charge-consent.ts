import { and, eq, type SQL, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../../db/client.ts'
import { checkouts } from '../../../../db/schema/billing.ts'
import { AppError } from '../../../domain/error.ts'
import { limitPerson } from '../../limits/limits.ts'
import type { Checkout } from '../../ports/payments.ts'
import type { Context } from '../../runtime/context.ts'

/** Stores someone's answer with its time: the latest one counts. @param who a condition on rows of `users` */
export function chargeAnswerQueries({ db, now }: Pick<Context, 'db' | 'now'>, yes: boolean, who: SQL): Query[] {
  const [answer, other] = yes
    ? [sql`charge_consent_at`, sql`charge_refused_at`]
    : [sql`charge_refused_at`, sql`charge_consent_at`]
  const store = db.run(sql`UPDATE users SET ${answer} = max(${now()}, coalesce(${other}, 0) + 1) WHERE ${who}`)
  if (yes) return [store]
  // Stripe may be charging what we finalized, or be about to: each is due now, and invoicing asks again. Only after a
  // yes: invoicing starts over each time, so a no that they repeat must not keep it from suspending them.
  const stop = db.run(sql`UPDATE invoices SET step = CASE WHEN step = 'sent' THEN 'resume' ELSE step END,
    next_at = ${now()}, attempts = min(attempts, 1)
    WHERE user_id IN (SELECT id FROM users WHERE ${who} AND charge_consent_at > coalesce(charge_refused_at, 0))
    AND step IN ('finalize', 'resume', 'sent') AND held_at IS NULL
    AND coalesce(status, 'draft') NOT IN ('paid', 'void')`)
  // First what depends on the answer before.
  return [stop, store]
}

/**
 * Makes the card that they entered their default, which pays invoices without a plan, and returns what stores their
 * answer. Later news of the same checkout changes neither: they may have chosen something else since.
 */
export async function checkoutCardQueries(
  ctx: Context,
  stripeSessionId: string,
  { customerId, subscriptionId, chargesUsage }: Checkout,
): Promise<Query[]> {
  const isNew = and(eq(checkouts.stripeSessionId, stripeSessionId), eq(checkouts.status, 'open'))
  if (!customerId || !subscriptionId || !(await ctx.db.$count(checkouts, isNew))) return []
  try {
    await ctx.payments.adoptCard({ customerId, subscriptionId }, ctx.now())
  } catch (error) {
    if (!(error instanceof AppError) || error.retryable) throw error
    // The plan matters more. Invoicing looks again.
    ctx.log('card_not_adopted', { subscriptionId }, error)
  }
  return chargesUsage === null ? [] : checkoutAnswerQueries(ctx, stripeSessionId, chargesUsage)
}

/** Unless they gave another answer since they opened the checkout. */
function checkoutAnswerQueries(ctx: Context, stripeSessionId: string, yes: boolean): Query[] {
  return chargeAnswerQueries(
    ctx,
    yes,
    sql`EXISTS (SELECT 1 FROM checkouts WHERE stripe_session_id = ${stripeSessionId} AND status = 'open'
      AND user_id = users.id AND created_at > max(coalesce(charge_consent_at, 0), coalesce(charge_refused_at, 0)))`,
  )
}

/** The switch on the billing pages. */
export async function setCharging(ctx: Context, userId: string, { on }: { on: boolean }) {
  await limitPerson(ctx, 'charge_answer', userId)
  await writeBatch(ctx.db, chargeAnswerQueries(ctx, on, sql`id = ${userId} AND closed_at IS NULL`))
  return {
    message: on
      ? 'Starting with your next invoice, we charge your card for usage.'
      : "We don't charge your card for usage, open invoices included. We email you invoices to pay.",
    charges_card: on,
  }
}
