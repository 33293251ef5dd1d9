import { eq, type SQL, sql } from 'drizzle-orm'
import { plans } from '../../../db/schema/billing.ts'
import { AppError } from '../../domain/error.ts'
import { trialSecondsLeft } from '../../domain/money/billing.ts'
import { gpusOf, isUnpaid, type PlanType, planOf } from '../../domain/money/plan.ts'
import { planEndOf } from '../../domain/money/plan-end.ts'
import type { Context } from '../runtime/context.ts'
import { getUsage, type Usage, unpaidRefusal } from './bills/usage.ts'
import { settleCheckout } from './plans/checkout.ts'
import { settlePlan } from './plans/pay-plan.ts'

/** What someone may start now. */
export type Allowance = {
  /** The largest server of their plan. */
  gpus: number
  /** Which environments and vehicles they may choose. */
  plan: PlanType
  /** Seconds that their free trial still covers; null without a trial. */
  trialSeconds: number | null
}

/**
 * The fleet's one question for billing: may this person start a server, and which? Asks Stripe first if we
 * may have missed a payment.
 * @throws suspended, plan_unpaid, no_plan, no_minutes, budget, with the page to pay or to raise the budget
 */
export async function requireAllowance(ctx: Context, userId: string): Promise<Allowance> {
  const usage = await getUsageOfPayer(ctx, userId)
  const refusal = unpaidRefusal(usage)
  if (refusal) throw new AppError(refusal.code, refusal.error, { page: refusal.page })
  const allowance = toAllowance(usage)
  if (allowance.trialSeconds === 0)
    throw new AppError('no_minutes', 'Your free trial minutes are used up. Choose a plan to start servers again.')
  return allowance
}

/** The same from the database alone, without a refusal. */
export async function getAllowance(ctx: Context, userId: string): Promise<Allowance> {
  return toAllowance(await getUsage(ctx, userId))
}

/** The same in SQL, for a write: whether their plan is a trial. */
export function isOnTrial(userId: string | SQL): SQL {
  return sql`EXISTS (SELECT 1 FROM subscriptions WHERE user_id = ${userId} AND ended_at IS NULL AND sub_type = 'demo')`
}

/** When their plan stops including a server of this size; null: as far as we know, never. */
export async function findPlanEnd(ctx: Pick<Context, 'db'>, userId: string, gpus: number): Promise<number | null> {
  return planEndOf(gpus, await ctx.db.select().from(plans).where(eq(plans.userId, userId)))
}

/** From what a route has already read. */
export function toAllowance({ plan, seconds }: Usage): Allowance {
  return {
    gpus: gpusOf(plan),
    plan: planOf(plan),
    trialSeconds: plan?.subType === 'demo' ? trialSecondsLeft(seconds) : null,
  }
}

/** Someone on a trial or an unpaid plan may have just paid, so we ask Stripe before refusing them. */
async function getUsageOfPayer(ctx: Context, userId: string): Promise<Usage> {
  const usage = await getUsage(ctx, userId)
  const { plan } = usage
  const isDemo = plan?.subType === 'demo'
  if (!isDemo && !isUnpaid(plan)) return usage
  const ask = isDemo ? settleCheckout(ctx, userId) : settlePlan(ctx, userId, plan?.stripeSubscriptionId ?? null)
  const asked = await ask.catch((error) => {
    ctx.log('payment_not_settled', { userId }, error)
    return false
  })
  return asked ? getUsage(ctx, userId) : usage
}
