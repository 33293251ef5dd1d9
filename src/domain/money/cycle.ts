import { calendarMonth, type Period, periodAt } from './billing.ts'
import type { PlanType } from './plan.ts'

/** The time a user had one plan, from its anchor to its end (null until known). */
export type PlanSpan = {
  planType: PlanType
  subType: 'demo' | 'paid'
  hours: number
  anchor: number
  endsAt: number | null
  /** Unpaid from here on: cycles that begin later include none of its hours. */
  paidUntil?: number | null
  /** The plan before a change, for cycles that begin before `until`. */
  earlier?: EarlierPlan | null
  /** The latest upgrade by the customer, from another plan. */
  upgrade?: Upgrade | null
}

export type EarlierPlan = { planType: PlanType; hours: number; until: number }

/** They paid the difference in price for the rest of that period. */
export type Upgrade = { at: number; from: { planType: PlanType; hours: number } }

/** What we measure and bill together. `end` is Infinity for a trial in progress: it has no cycles. */
export type Cycle = Period & {
  plan: PlanSpan | null
  includedHours: number
  trial: boolean
}

/**
 * The cycle that begins at `from`, where the previous one ended, so a user's cycles adjoin and never overlap.
 * A paid plan is split at its anchor's periods, a trial is one piece, and without a plan the cycle is the calendar
 * month with no hours included.
 */
export function cycleFrom(spans: PlanSpan[], from: number): Cycle {
  const plan = planAt(spans, from)
  // A span that ended where it began was never in force, so it cuts nothing.
  const later = spans.filter(({ anchor, endsAt }) => anchor > from && (endsAt === null || endsAt > anchor))
  const nextAnchor = Math.min(...later.map((span) => span.anchor), Infinity)
  const ends = Math.min(plan?.endsAt ?? Infinity, nextAnchor)
  if (!plan) return { start: from, end: Math.min(calendarMonth(from).end, ends), plan, includedHours: 0, trial: false }
  const natural = plan.subType === 'demo' ? Infinity : periodAt(plan.anchor, from).end
  const inForce = planInForce(plan, from)
  return {
    start: from,
    end: Math.min(natural, ends),
    plan: inForce,
    includedHours: from < (plan.paidUntil ?? Infinity) ? inForce.hours : 0,
    trial: plan.subType === 'demo',
  }
}

/** The same plan, with the hours of the cycle that begins at `from`. */
function planInForce(plan: PlanSpan, from: number): PlanSpan {
  const { upgrade } = plan
  const larger = largerPlan(plan, from)
  if (!upgrade) return larger
  const period = periodAt(plan.anchor, upgrade.at)
  if (from < period.start) return { ...plan, ...upgrade.from }
  return from < period.end ? { ...larger, hours: upgradedHours(upgrade, larger.hours, period) } : larger
}

/**
 * An upgrade includes the same share of the additional hours as of the additional price: the rest of the period.
 * Rounded up to hundredths of an hour.
 */
export function upgradedHours({ at, from }: Upgrade, hours: number, { start, end }: Period): number {
  const share = (end - Math.max(at, start)) / (end - start)
  // Subtract a trifle, so that an exact number of hundredths stays exact.
  return Math.max(from.hours, Math.ceil((from.hours + (hours - from.hours) * share) * 100 - 1e-6) / 100)
}

/** When a plan changes within a cycle, that cycle gets the larger plan's hours, so a change never costs the user hours. */
function largerPlan(plan: PlanSpan, from: number): PlanSpan {
  const { earlier } = plan
  return earlier && from < earlier.until && earlier.hours > plan.hours
    ? { ...plan, planType: earlier.planType, hours: earlier.hours }
    : plan
}

/** The plan in force at an instant; if there are two, the one that began later. */
export function planAt(spans: PlanSpan[], at: number): PlanSpan | null {
  const holding = spans.filter((span) => span.anchor <= at && at < (span.endsAt ?? Infinity))
  return holding.sort((a, b) => b.anchor - a.anchor)[0] ?? null
}

/** The cycles from `from`, where one begins, to the one that `at` is in. */
export function cyclesSince(spans: PlanSpan[], from: number, at: number): Cycle[] {
  const cycles: Cycle[] = []
  for (let start = from; start <= at; ) {
    const cycle = cycleFrom(spans, start)
    cycles.push(cycle)
    start = cycle.end
  }
  return cycles
}

/** The cycle that `at` is in, counting from `from`, the end of the last closed one. */
export function cycleAt(spans: PlanSpan[], from: number, at: number): Cycle {
  let cycle = cycleFrom(spans, from)
  while (cycle.end <= at) cycle = cycleFrom(spans, cycle.end)
  return cycle
}
