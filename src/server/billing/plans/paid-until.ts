import { sql } from 'drizzle-orm'
import { plans } from '../../../../db/schema/billing.ts'
import { isUnpaid } from '../../../domain/money/plan.ts'
import type { PaidSubscription } from '../../ports/payments.ts'
import type { Context } from '../../runtime/context.ts'

/**
 * What we heard about a plan's payments.
 * @property paidInTime an unpaid period was paid after all
 * @property endedPaid its last period was paid, although an earlier one was not
 * @property unpaid its current or last period is unpaid
 */
type Payments = { paidInTime: boolean; endedPaid: boolean; unpaid: boolean }

/** What Stripe says about a plan. */
export type Heard = PaidSubscription & Payments & { userId: string }

export async function hearOfPayments(
  ctx: Context,
  known: { paidUntil: number | null } | undefined,
  found: PaidSubscription,
): Promise<Payments> {
  const paidInTime = known ? await wasPaidInTime(ctx, known, found) : false
  const endedPaid = known && !paidInTime ? await hasEndedPaid(ctx, known, found) : false
  return { paidInTime, endedPaid, unpaid: await isPeriodUnpaid(ctx, found) }
}

/** Whether a period that we believed unpaid was in fact paid before it, or the plan, ended. */
async function wasPaidInTime(
  ctx: Context,
  { paidUntil }: { paidUntil: number | null },
  found: PaidSubscription,
): Promise<boolean> {
  if (paidUntil === null) return false
  // A later payment is for the next period, even if the plan has ended since.
  const end = paidUntil < found.periodStart ? found.periodStart : (found.endedAt ?? found.periodStart)
  return paidUntil < end && ctx.payments.wasPaidWithin(found.id, { start: paidUntil, end })
}

/** Whether a plan that we believed unpaid was paid again, and has ended since. */
async function hasEndedPaid(
  ctx: Context,
  { paidUntil }: { paidUntil: number | null },
  { id, periodStart, endedAt }: PaidSubscription,
): Promise<boolean> {
  if (paidUntil === null || paidUntil >= periodStart || endedAt === null) return false
  return ctx.payments.wasPaidWithin(id, { start: periodStart, end: endedAt })
}

/**
 * Whether the plan's current or last period is unpaid. Stripe charges for a renewal about an hour after it, and a bank
 * debit may take days. A plan that ends before that is never reported as unpaid, so we look for the payment.
 */
async function isPeriodUnpaid(ctx: Context, found: PaidSubscription): Promise<boolean> {
  const { status, endedAt, anchor, periodStart } = found
  if (endedAt === null || status === 'incomplete_expired') return isUnpaid(found)
  const start = periodStart === anchor ? 0 : periodStart
  return !(await ctx.payments.wasPaidWithin(found.id, { start, end: Infinity }))
}

/**
 * The `paid_until` of a known plan. An unpaid period stays unpaid when the plan ends, and of several the
 * first counts. A late payment pays for the next period: the unpaid one is first billed without its hours.
 */
export function paidUntilQuery(found: Heard) {
  const { periodStart, endedAt, endedPaid } = found
  const before = unpaidBefore(found)
  if (found.unpaid) return sql`min(coalesce(${before}, ${periodStart}), ${periodStart})`
  if (endedAt !== null && !endedPaid) return before
  return sql`(CASE WHEN ${isUnbilledUnpaid(found)} THEN ${before} END)`
}

/** The plan is paid again, but an earlier unpaid period has no bill yet. */
export function isUnbilledUnpaid(found: Heard) {
  const { periodStart, userId, endedAt, endedPaid, unpaid } = found
  return sql`(${(endedAt === null || endedPaid) && !unpaid ? 1 : 0} AND ${unpaidBefore(found)} < ${periodStart}
    AND EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND billed_until < ${periodStart}))`
}

function unpaidBefore({ paidInTime }: Heard) {
  return paidInTime ? sql`NULL` : sql`${plans.paidUntil}`
}
