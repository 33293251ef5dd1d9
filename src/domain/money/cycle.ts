import { calendarMonth, type Period, periodAt } from './billing.ts'
import type { PlanType } from './plan.ts'

/** The time during which a user had one plan: from its anchor to its end, null while none is known. */
export type PlanSpan = {
  planType: PlanType
  subType: 'demo' | 'paid'
  hours: number
  anchor: number
  endsAt: number | null
  /** Not paid from here on: what begins later has none of its hours. */
  paidUntil?: number | null
  /** What it was before it was changed, for the cycles that begin before `until`. */
  earlier?: EarlierPlan | null
}

export type EarlierPlan = { planType: PlanType; hours: number; until: number }

/** What is measured and billed together. `end` is Infinity for a trial that goes on: it has no cycles. */
export type Cycle = Period & {
  plan: PlanSpan | null
  includedHours: number
  trial: boolean
}

/**
 * The cycle that begins at `from`, which is where the one before ended: so a user's cycles adjoin and never overlap.
 * A paid plan is cut at its anchor's periods, a trial is one piece, and without a plan it is the calendar month with nothing included.
 */
export function cycleFrom(spans: PlanSpan[], from: number): Cycle {
  const plan = planAt(spans, from)
  // One that ended where it began never held: it cuts nothing.
  const later = spans.filter(({ anchor, endsAt }) => anchor > from && (endsAt === null || endsAt > anchor))
  const nextAnchor = Math.min(...later.map((span) => span.anchor), Infinity)
  const ends = Math.min(plan?.endsAt ?? Infinity, nextAnchor)
  if (!plan) return { start: from, end: Math.min(calendarMonth(from).end, ends), plan, includedHours: 0, trial: false }
  const natural = plan.subType === 'demo' ? Infinity : periodAt(plan.anchor, from).end
  const larger = largerPlan(plan, from)
  return {
    start: from,
    end: Math.min(natural, ends),
    plan: larger,
    includedHours: from < (plan.paidUntil ?? Infinity) ? larger.hours : 0,
    trial: plan.subType === 'demo',
  }
}

/** Of a plan that is changed within a cycle, that cycle has the larger one's hours: whoever changes it loses nothing. */
function largerPlan(plan: PlanSpan, from: number): PlanSpan {
  const { earlier } = plan
  return earlier && from < earlier.until && earlier.hours > plan.hours
    ? { ...plan, planType: earlier.planType, hours: earlier.hours }
    : plan
}

/** The plan that holds at an instant; of two, the one that began later. */
export function planAt(spans: PlanSpan[], at: number): PlanSpan | null {
  const holding = spans.filter((span) => span.anchor <= at && at < (span.endsAt ?? Infinity))
  return holding.sort((a, b) => b.anchor - a.anchor)[0] ?? null
}

/** The cycle that `at` lies in, counted on from `from`, the end of the last closed one. */
export function cycleAt(spans: PlanSpan[], from: number, at: number): Cycle {
  let cycle = cycleFrom(spans, from)
  while (cycle.end <= at) cycle = cycleFrom(spans, cycle.end)
  return cycle
}
