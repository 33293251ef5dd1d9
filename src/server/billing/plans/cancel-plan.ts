import { and, eq, isNull } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { plans } from '../../../../db/schema/billing.ts'
import { AppError } from '../../../domain/error.ts'
import { periodAt } from '../../../domain/money/billing.ts'
import type { User } from '../../../domain/wire/accounts.ts'
import { newId } from '../../crypto/id.ts'
import { limitPerson } from '../../limits/limits.ts'
import type { Context } from '../../runtime/context.ts'
import { dueQuery } from '../bills/close-cycles.ts'
import { settleCheckout } from './checkout.ts'
import { findPaidPlan, releaseSchedule } from './paid-plan.ts'
import { syncPlan } from './plan-sync.ts'

/** The customer's own call. Only this one is rate-limited: closing an account must always work. @throws also too_many */
export async function cancelPlan(ctx: Context, user: User): Promise<void> {
  await limitPerson(ctx, 'cancel_plan', user.id)
  await cancelAtPeriodEnd(ctx, user)
}

/**
 * Sets the user's plan to end with its current period; ends it at once if its first payment never came. Safe
 * to repeat.
 * @throws not_found (no plan that renews), unavailable, provider_failed
 */
export async function cancelAtPeriodEnd(ctx: Context, user: User): Promise<void> {
  // They may have paid a moment ago, with the webhook still on its way: that plan must not renew.
  await settleCheckout(ctx, user.id)
  const plan = await findPaidPlan(ctx, user.id)
  if (!plan) throw nothingToCancel()
  if (plan.stripeSubscriptionId) return cancelAtStripe(ctx, plan.id, plan.stripeSubscriptionId, plan.status)
  if (plan.cancelAt !== null && plan.cancelAt <= ctx.now()) throw nothingToCancel()
  if (plan.cancelAt !== null) return
  const cancelAt = periodAt(plan.anchor, ctx.now()).end
  await writeBatch(ctx.db, [
    ctx.db
      .update(plans)
      .set({ cancelAtPeriodEnd: true, cancelAt })
      .where(and(eq(plans.id, plan.id), isNull(plans.endedAt))),
    dueQuery(ctx.db, user.id, ctx.now()),
  ])
}

async function cancelAtStripe(ctx: Context, planId: string, stripeId: string, known: string): Promise<void> {
  try {
    // Its first payment may have arrived by now: ask before we end a month that they paid for.
    const status = known === 'incomplete' ? (await ctx.payments.findSubscription(stripeId))?.status : known
    if (status === 'incomplete') await ctx.payments.cancelNow(stripeId)
    // A new key each time: repeating it is harmless, and a stored answer must not hide that someone resumed
    // the plan.
    else await cancelOrRelease(ctx, stripeId)
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'provider_failed')) throw error
    // Stripe refuses to cancel a plan that has ended, even if we don't know that yet.
    await syncPlan(ctx, stripeId)
    const stands = and(eq(plans.id, planId), isNull(plans.endedAt))
    throw (await ctx.db.$count(plans, stands)) > 0 ? error : nothingToCancel()
  }
  await syncPlan(ctx, stripeId)
}

/** Stripe refuses to cancel a plan that is set to change with its next period: take the change back first. */
async function cancelOrRelease(ctx: Context, stripeId: string): Promise<void> {
  const cancel = () => ctx.payments.cancelAtPeriodEnd(stripeId, newId('req'))
  try {
    await cancel()
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'provider_failed')) throw error
    const schedule = (await ctx.payments.findSubscription(stripeId))?.scheduleId
    if (schedule) await releaseSchedule(ctx, stripeId, schedule)
    // Without one, another click may have taken the change back.
    await cancel()
  }
}

function nothingToCancel(): AppError {
  return new AppError('not_found', 'You have no subscription to cancel.')
}
