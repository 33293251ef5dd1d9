import { and, eq, isNull, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../db/client.ts'
import { subscriptions, users } from '../../../db/schema.ts'
import { AppError } from '../../domain/error.ts'
import { ENTERPRISE, PLANS, type PlanType } from '../../domain/plan.ts'
import type { Context } from '../context.ts'
import { newId } from '../id.ts'
import { log } from '../log.ts'
import type { PaidSubscription } from '../providers/payments.ts'
import { planBeforeChange } from './plan-spans.ts'
import { findWithTime } from './stripe-time.ts'

type SubscriptionRow = typeof subscriptions.$inferSelect

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
/** Nothing was paid yet: not a plan. */
const NOT_BEGUN = new Set(['incomplete', 'incomplete_expired'])

/**
 * Takes over what Stripe says of a subscription, whatever made us ask. Safe to repeat and in any order.
 * @param also written in the same batch
 */
export async function syncSubscription(ctx: Context, stripeId: string, also: Query[] = []): Promise<void> {
  const { found, askedAt } = await findWithTime(ctx, () => ctx.payments.findSubscription(stripeId))
  const ours = found && !NOT_BEGUN.has(found.status) ? await takeOver(ctx, found, askedAt) : []
  const queries = [...ours, ...also]
  if (queries.length) await writeBatch(ctx.db, queries)
}

async function takeOver(ctx: Context, found: PaidSubscription, askedAt: number): Promise<Query[]> {
  const userId = found.userId ?? ''
  const [[user], rows] = await ctx.db.batch([
    ctx.db.select({ id: users.id }).from(users).where(eq(users.id, userId)),
    ctx.db.select().from(subscriptions).where(eq(subscriptions.userId, userId)),
  ])
  const known = rows.find((row) => row.stripeSubscriptionId === found.id)
  // A price that is none of ours any more changes nothing about a plan that began with one.
  const plan =
    PLANS.find(({ type }) => type === found.planType && type !== ENTERPRISE.type) ??
    (known && { type: known.planType, hours: known.hours })
  if (!user || !plan) {
    log('subscription_ignored', { stripeId: found.id, why: user ? 'unknown price' : 'unknown user' })
    return []
  }
  const rival = rows.find(
    (row) => row.endedAt === null && row.stripeSubscriptionId !== null && row.stripeSubscriptionId !== found.id,
  )
  if (rival?.stripeSubscriptionId && found.endedAt === null) {
    await syncSubscription(ctx, rival.stripeSubscriptionId)
    const standing = await findStanding(ctx, rival.id)
    // It was to be over by now, and Stripe is about to end it: whoever tells us comes again.
    if (standing && (standing.cancelAt ?? Infinity) <= ctx.now())
      throw new AppError('unavailable', 'Your plan before is just ending. Please try again in a moment.', {
        retryable: true,
      })
    if (standing) return refuseSecond(ctx, found)
  }
  const before = known && known.planType !== plan.type ? planBeforeChange(known) : {}
  return subscriptionQueries(ctx, { ...found, userId }, { ...plan, before }, askedAt)
}

function subscriptionQueries(
  ctx: Context,
  found: PaidSubscription & { userId: string },
  plan: { type: PlanType; hours: number; before: Partial<SubscriptionRow> },
  askedAt: number,
): Query[] {
  const now = ctx.now()
  const { userId, endedAt, cancelAt } = found
  const checkAt = endedAt === null ? Math.min(now + DAY_MS, Math.max(now, cancelAt ?? Infinity) + MINUTE_MS) : null
  const row = {
    planType: plan.type,
    status: found.status,
    anchor: found.anchor,
    hours: plan.hours,
    cancelAtPeriodEnd: found.cancelAtPeriodEnd,
    cancelAt,
    ...plan.before,
    syncedAt: askedAt,
    checkAt,
    endedAt,
  }
  return [
    // A trial, or a plan granted by hand, ends where the paid one begins, unless it was over before.
    ctx.db.run(sql`UPDATE subscriptions SET cancel_at = NULL,
      ended_at = max(anchor, min(${found.anchor}, coalesce(cancel_at, ${found.anchor}))),
      status = CASE sub_type WHEN 'demo' THEN 'ended' ELSE 'canceled' END
      WHERE user_id = ${userId} AND ended_at IS NULL AND stripe_subscription_id IS NULL AND anchor <= ${found.anchor}`),
    ctx.db
      .insert(subscriptions)
      .values({
        id: newId('sub'),
        userId,
        subType: 'paid',
        stripeSubscriptionId: found.id,
        createdAt: now,
        ...row,
      })
      .onConflictDoUpdate({
        target: subscriptions.stripeSubscriptionId,
        set: row,
        setWhere: sql`${subscriptions.syncedAt} <= ${askedAt}`,
      }),
    ctx.db.run(sql`UPDATE users SET billing_due_at = min(billing_due_at, ${now}),
      stripe_customer_id = coalesce(stripe_customer_id, ${found.customerId}) WHERE id = ${userId}`),
    // What runs is no longer a trial's.
    ctx.db.run(sql`UPDATE server_sessions SET must_stop_at = NULL WHERE user_id = ${userId} AND stop_requested_at IS NULL
      AND ${endedAt === null ? 1 : 0}`),
    // An account that was closed meanwhile has it ended by the next trigger.
    ctx.db.run(sql`UPDATE subscriptions SET check_at = ${now} WHERE stripe_subscription_id = ${found.id} AND ended_at IS NULL
      AND EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND closed_at IS NOT NULL)`),
  ]
}

async function findStanding(ctx: Context, id: string): Promise<SubscriptionRow | null> {
  const [row] = await ctx.db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.id, id), isNull(subscriptions.endedAt)))
  return row ?? null
}

/** Paid in two windows at once: the plan that stands stays, the other one ends before it costs more. */
async function refuseSecond(ctx: Context, second: PaidSubscription): Promise<Query[]> {
  log('second_plan_canceled', { stripeId: second.id, todo: 'refund its first invoice' })
  await ctx.payments.cancelNow(second.id)
  return []
}
