import { and, eq, gt, inArray, isNull, or } from 'drizzle-orm'
import { plans } from '../../../../db/schema/billing.ts'
import { UNPAID_STATUSES, upgradeWaits } from '../../../domain/money/plan.ts'
import { limitPerson, mayStill } from '../../limits/limits.ts'
import type { Context } from '../../runtime/context.ts'
import { syncPlan } from './plan-sync.ts'

/**
 * The page to pay the open invoice of the user's plan, or of the upgrade that is waiting for it; null if none is open:
 * the plan is paid, or Stripe is waiting for something else.
 * @returns also whether it is for an upgrade
 * @throws too_many, unavailable, provider_failed
 */
export async function findPlanPayPage(
  ctx: Context,
  userId: string,
): Promise<{ page: string | null; upgrades: boolean }> {
  const isDue = or(inArray(plans.status, UNPAID_STATUSES), gt(plans.upgradeUntil, ctx.now()))
  const [plan] = await ctx.db
    .select({ stripeId: plans.stripeSubscriptionId, upgradeUntil: plans.upgradeUntil })
    .from(plans)
    .where(and(eq(plans.userId, userId), isNull(plans.endedAt), isDue))
  if (!plan?.stripeId) return { page: null, upgrades: false }
  await limitPerson(ctx, 'pay_page', userId)
  const page = await ctx.payments.findPlanPayPage(plan.stripeId)
  if (!page) await settlePlan(ctx, userId, plan.stripeId)
  return { page, upgrades: upgradeWaits(plan, ctx.now()) }
}

/**
 * Asks Stripe about the plan, since the webhook of a payment may take a while.
 * @returns false if there was nothing to ask or we asked too often
 */
export async function settlePlan(ctx: Context, userId: string, stripeId: string | null): Promise<boolean> {
  if (!stripeId || !(await mayStill(ctx, 'ask_stripe', userId))) return false
  await syncPlan(ctx, stripeId)
  return true
}
