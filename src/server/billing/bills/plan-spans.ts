import type { PlanRow } from '../../../../db/schema/billing.ts'
import { periodAt } from '../../../domain/money/billing.ts'
import type { EarlierPlan, PlanSpan, Upgrade } from '../../../domain/money/cycle.ts'
import { type PlanType, planOffered } from '../../../domain/money/plan.ts'

/** A plan ends when it was set to end, even if Stripe hasn't told us yet or carried it out late. */
export function toSpan(row: PlanRow): PlanSpan {
  const { planType, subType, hours, anchor, paidUntil } = row
  const ends = [row.endedAt, row.cancelAt].filter((at) => at !== null)
  const endsAt = ends.length ? Math.min(...ends) : null
  return { planType, subType, hours, anchor, endsAt, paidUntil, earlier: earlierPlan(row), upgrade: upgradeOf(row) }
}

function earlierPlan(row: PlanRow): EarlierPlan | null {
  const { earlierPlanType: planType, earlierHours: hours, earlierUntil: until } = row
  return planType === null || hours === null || until === null ? null : { planType, hours, until }
}

function upgradeOf({ upgradedAt: at, upgradedFrom: planType }: PlanRow): Upgrade | null {
  const from = planOffered(planType)
  return at === null || !from ? null : { at, from: { planType: from.type, hours: from.hours } }
}

/**
 * What a row keeps of its old plan when it changes: that plan counts for the period in which Stripe last
 * reported it. A change that was set for the next period counts from that period's start, even if Stripe made it late
 * and reported the old plan after it. Of several changes in one period, the largest plan counts.
 */
export function planBeforeChange(row: PlanRow, changed: { type: PlanType; periodStart: number }): Partial<PlanRow> {
  const reported = periodAt(row.anchor, row.syncedAt).end
  const until = row.nextPlanType === changed.type ? Math.min(reported, changed.periodStart) : reported
  const earlier = earlierPlan(row)
  if (earlier && earlier.until >= until && earlier.hours > row.hours) return {}
  return { earlierPlanType: row.planType, earlierHours: row.hours, earlierUntil: until }
}
