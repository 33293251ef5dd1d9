import { periodAt } from './billing.ts'
import { BASIC, type PlanType, planOffered } from './plan.ts'

type PlanRow = {
  planType: PlanType
  anchor: number
  endedAt: number | null
  cancelAt: number | null
  nextPlanType: PlanType | null
  nextPlanAt: number | null
  earlierPlanType: PlanType | null
  earlierUntil: number | null
}

/**
 * When none of someone's plans includes a server of this size anymore: at the end of the period in which their plan was
 * made smaller, or ended. Null: as far as we know, never.
 * @param plans all that they have or had
 */
export function planEndOf(gpus: number, plans: PlanRow[]): number | null {
  if (gpus <= BASIC.gpus) return null
  const ends = plans.map((plan) => endOf(gpus, plan)).filter((end) => end !== null)
  const last = Math.max(...ends)
  return ends.length && Number.isFinite(last) ? last : null
}

function endOf(gpus: number, plan: PlanRow): number | null {
  const { planType, anchor, endedAt, cancelAt, nextPlanType, nextPlanAt, earlierPlanType, earlierUntil } = plan
  if (!includes(planType, gpus)) return includes(earlierPlanType, gpus) ? earlierUntil : null
  // A plan that ended before its period keeps its servers until the period's end.
  if (endedAt !== null) return endedAt > anchor ? periodAt(anchor, endedAt - 1).end : null
  if (cancelAt !== null) return cancelAt
  return nextPlanType === null || includes(nextPlanType, gpus) ? Infinity : (nextPlanAt ?? Infinity)
}

function includes(type: PlanType | null, gpus: number): boolean {
  return (planOffered(type)?.gpus ?? BASIC.gpus) >= gpus
}
