import type { subscriptions } from '../../../db/schema.ts'
import type { PlanSpan } from '../../domain/cycle.ts'

/** A plan whose end is decided counts as ended there, whether or not Stripe has told us yet. */
export function toSpan(row: typeof subscriptions.$inferSelect): PlanSpan {
  const { planType, subType, hours, anchor } = row
  return { planType, subType, hours, anchor, endsAt: row.endedAt ?? row.cancelAt }
}
