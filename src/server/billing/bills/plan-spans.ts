import type { PlanRow } from '../../../../db/schema.ts'
import { periodAt } from '../../../domain/money/billing.ts'
import type { EarlierPlan, PlanSpan } from '../../../domain/money/cycle.ts'

/** A plan whose end is decided counts as ended there, whether or not Stripe has told us yet, and however late Stripe carried it out. */
export function toSpan(row: PlanRow): PlanSpan {
  const { planType, subType, hours, anchor, paidUntil } = row
  const ends = [row.endedAt, row.cancelAt].filter((at) => at !== null)
  const endsAt = ends.length ? Math.min(...ends) : null
  return { planType, subType, hours, anchor, endsAt, paidUntil, earlier: earlierPlan(row) }
}

function earlierPlan(row: PlanRow): EarlierPlan | null {
  const { earlierPlanType: planType, earlierHours: hours, earlierUntil: until } = row
  return planType === null || hours === null || until === null ? null : { planType, hours, until }
}

/**
 * What a row keeps of its plan when another one takes its place: it holds for the period in which Stripe last said so. Of several
 * changes in one period, the largest.
 */
export function planBeforeChange(row: PlanRow): Partial<PlanRow> {
  const until = periodAt(row.anchor, row.syncedAt).end
  const earlier = earlierPlan(row)
  if (earlier && earlier.until >= until && earlier.hours > row.hours) return {}
  return { earlierPlanType: row.planType, earlierHours: row.hours, earlierUntil: until }
}
