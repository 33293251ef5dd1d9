import { and, eq, isNull, sql } from 'drizzle-orm'
import { type PlanRow, plans } from '../../../../db/schema/billing.ts'
import { AppError } from '../../../domain/error.ts'
import { MINUTE_MS } from '../../../domain/instant.ts'
import { stands } from '../../../domain/money/plan.ts'
import type { Context } from '../../runtime/context.ts'
import { syncPlan } from './plan-sync.ts'

/** Their paid plan, granted or from Stripe, that hasn't ended there. */
export async function findPaidPlan(ctx: Context, userId: string): Promise<PlanRow | null> {
  const [row] = await ctx.db
    .select()
    .from(plans)
    .where(and(eq(plans.userId, userId), eq(plans.subType, 'paid'), isNull(plans.endedAt)))
  return row ?? null
}

/** The same, unless its end has passed. */
export async function findStandingPlan(ctx: Context, userId: string): Promise<PlanRow | null> {
  const row = await findPaidPlan(ctx, userId)
  return row && stands(row, ctx.now()) ? row : null
}

/**
 * Writes down that we must ask Stripe soon, then changes the plan there and asks. If we die in between, the next
 * trigger asks.
 * @param isDone whether the change went through although its answer got lost
 */
export async function changeAtStripe(
  ctx: Context,
  row: PlanRow,
  change: () => Promise<void>,
  isDone: (plan: PlanRow | null) => boolean = () => false,
): Promise<void> {
  const stripeId = row.stripeSubscriptionId ?? ''
  const soon = ctx.now() + MINUTE_MS
  await ctx.db
    .update(plans)
    .set({ checkAt: sql`min(coalesce(check_at, ${soon}), ${soon})` })
    .where(and(eq(plans.id, row.id), isNull(plans.endedAt)))
  try {
    await change()
  } catch (error) {
    await syncPlan(ctx, stripeId).catch((cause) => ctx.log('plan_change_unknown', { subscriptionId: row.id }, cause))
    if (isDone(await findStandingPlan(ctx, row.userId))) return
    throw error
  }
  await syncPlan(ctx, stripeId)
}

/** Removes a scheduled change from the plan, even if another click was faster. */
export async function releaseSchedule(ctx: Context, stripeId: string, scheduleId: string): Promise<void> {
  try {
    await ctx.payments.releaseSchedule(scheduleId)
  } catch (error) {
    if ((await ctx.payments.findSubscription(stripeId))?.scheduleId === scheduleId) throw error
  }
}

export function justChanged(): AppError {
  return new AppError('conflict', 'Your plan has just changed. Please look at it again.')
}
