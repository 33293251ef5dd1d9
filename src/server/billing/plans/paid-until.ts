import { sql } from 'drizzle-orm'
import { plans } from '../../../../db/schema.ts'
import { isUnpaid } from '../../../domain/money/plan.ts'
import type { Context } from '../../context.ts'
import type { PaidSubscription } from '../../ports/payments.ts'

/** What Stripe says about a plan, and whether it was paid in time. */
export type Heard = PaidSubscription & { userId: string; paidInTime: boolean }

/** Whether a period that we took for unpaid was in fact paid before it, or the plan, ended. */
export async function wasPaidInTime(
  ctx: Context,
  { paidUntil }: { paidUntil: number | null },
  found: PaidSubscription,
): Promise<boolean> {
  const end = found.endedAt ?? found.periodStart
  return paidUntil !== null && paidUntil < end && ctx.payments.wasPaidWithin(found.id, { start: paidUntil, end })
}

/**
 * The `paid_until` of a known plan. An unpaid period stays unpaid when the plan ends, and of several the
 * first counts. A late payment pays for the next period: the unpaid one is first billed without its hours.
 */
export function paidUntilQuery(found: Heard) {
  const { periodStart, endedAt } = found
  const before = unpaidBefore(found)
  if (isUnpaid(found)) return sql`min(coalesce(${before}, ${periodStart}), ${periodStart})`
  if (endedAt !== null) return before
  return sql`(CASE WHEN ${isUnbilledUnpaid(found)} THEN ${before} END)`
}

/** The plan is paid again, but an earlier unpaid period has no bill yet. */
export function isUnbilledUnpaid(found: Heard) {
  const { periodStart, userId } = found
  return sql`(${found.endedAt === null && !isUnpaid(found) ? 1 : 0} AND ${unpaidBefore(found)} < ${periodStart}
    AND EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND billed_until < ${periodStart}))`
}

function unpaidBefore({ paidInTime }: Heard) {
  return paidInTime ? sql`NULL` : sql`${plans.paidUntil}`
}
