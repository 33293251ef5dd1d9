import { sql } from 'drizzle-orm'
import { plans } from '../../../../db/schema.ts'
import { isUnpaid } from '../../../domain/money/plan.ts'
import type { Context } from '../../context.ts'
import type { PaidSubscription } from '../../ports/payments.ts'

/** What Stripe says of a plan, and what came in for it. */
export type Heard = PaidSubscription & { userId: string; paidInTime: boolean }

/** We hear of it only now, but what we took for unpaid was paid before that period, or the plan, was over. */
export async function wasPaidInTime(
  ctx: Context,
  { paidUntil }: { paidUntil: number | null },
  found: PaidSubscription,
): Promise<boolean> {
  const end = found.endedAt ?? found.periodStart
  return paidUntil !== null && paidUntil < end && ctx.payments.wasPaidWithin(found.id, { start: paidUntil, end })
}

/**
 * Of a known plan. What was not paid stays so when the plan ends, and several periods that were not paid count from the first. A payment
 * that comes after a period pays for the next one: that period is billed without its hours first.
 */
export function paidUntilQuery(found: Heard) {
  const { periodStart, endedAt } = found
  const before = unpaidBefore(found)
  if (isUnpaid(found)) return sql`min(coalesce(${before}, ${periodStart}), ${periodStart})`
  if (endedAt !== null) return before
  return sql`(CASE WHEN ${isUnbilledUnpaid(found)} THEN ${before} END)`
}

/** Paid for again, while the bill of a period before that was not paid is not written yet. */
export function isUnbilledUnpaid(found: Heard) {
  const { periodStart, userId } = found
  return sql`(${found.endedAt === null && !isUnpaid(found) ? 1 : 0} AND ${unpaidBefore(found)} < ${periodStart}
    AND EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND billed_until < ${periodStart}))`
}

function unpaidBefore({ paidInTime }: Heard) {
  return paidInTime ? sql`NULL` : sql`${plans.paidUntil}`
}
