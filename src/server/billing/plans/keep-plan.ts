import { and, eq, isNull, sql } from 'drizzle-orm'
import { type PlanRow, plans } from '../../../../db/schema/billing.ts'
import { AppError } from '../../../domain/error.ts'
import type { User } from '../../../domain/wire/accounts.ts'
import { newId } from '../../crypto/id.ts'
import { limitPerson } from '../../limits/limits.ts'
import type { Context } from '../../runtime/context.ts'
import { changeAtStripe, findStandingPlan, justChanged, releaseSchedule } from './paid-plan.ts'

/**
 * Keeps the plan: undoes its cancellation, or its change with the next period. Safe to repeat.
 * @throws not_found (no plan, or it has ended), conflict (it has just changed), too_many, unavailable, provider_failed
 */
export async function keepPlan(ctx: Context, user: User): Promise<void> {
  await limitPerson(ctx, 'change_plan', user.id)
  const row = await findStandingPlan(ctx, user.id)
  if (!row) throw nothingToKeep()
  const stripeId = row.stripeSubscriptionId
  if (stripeId)
    await changeAtStripe(ctx, row, async () => {
      const found = await ctx.payments.findSubscription(stripeId)
      if (found?.scheduleId) await releaseSchedule(ctx, stripeId, found.scheduleId)
      if (found?.cancelAtPeriodEnd) await ctx.payments.resume(stripeId, newId('req'))
    })
  else await keepGranted(ctx, row)
  const kept = await findStandingPlan(ctx, user.id)
  if (!kept) throw nothingToKeep()
  // Its change took effect first, even if we haven't heard.
  if (kept.planType !== row.planType) throw justChanged()
}

function nothingToKeep(): AppError {
  return new AppError('not_found', 'Your plan has already ended. Choose a plan to get its hours again.')
}

async function keepGranted(ctx: Context, row: PlanRow): Promise<void> {
  await ctx.db
    .update(plans)
    .set({ cancelAtPeriodEnd: false, cancelAt: null })
    .where(and(eq(plans.id, row.id), isNull(plans.endedAt), sql`cancel_at > ${ctx.now()}`))
}
