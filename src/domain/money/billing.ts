import { UNITS_PER_DOLLAR, UNITS_PER_SECOND } from './money.ts'
import { type Plan, TRIAL_MINUTES } from './plan.ts'

const UNITS_PER_CENT = UNITS_PER_DOLLAR / 100

/** The first whole second from an instant on. Both in ms since 1970. */
export const wholeSecondFrom = (at: number) => Math.ceil(at / 1000) * 1000

/** The free seconds before the meter, counted so that they, and the clocks beside them, end where the billed ones begin. */
export function startupSeconds(requestedAt: number, billedFrom: number): number {
  return Math.max(0, Math.ceil(billedFrom / 1000) - Math.floor(requestedAt / 1000))
}

/**
 * A run's billed seconds: the whole seconds inside it, so never more than its length.
 * @param start ms since 1970 of the server's first answer
 * @param end ms since 1970 of the accepted stop, or now while it runs
 */
export function runSeconds(start: number, end: number): number {
  return Math.max(0, Math.floor(end / 1000) - Math.ceil(start / 1000))
}

/**
 * A run's part of a half-open period, in whole seconds: `[start, end)` in ms. A second belongs to the period it begins in, so
 * adjoining periods always add up to the run's `runSeconds`.
 */
export function partWithin(start: number, end: number, period: Period): Period {
  const from = Math.max(Math.ceil(start / 1000), Math.ceil(period.start / 1000))
  const to = Math.min(Math.floor(end / 1000), Math.ceil(period.end / 1000))
  return { start: from * 1000, end: Math.max(from, to) * 1000 }
}

export function runSecondsWithin(start: number, end: number, period: Period): number {
  const part = partWithin(start, end, period)
  return (part.end - part.start) / 1000
}

/** Whole seconds, because a plan's hours may have a fraction. */
export function hoursToSeconds(includedHours: number): number {
  return Math.round(includedHours * 3600)
}

/** Seconds used beyond the included hours. */
export function chargedSeconds(seconds: number, includedHours: number): number {
  return Math.max(0, seconds - hoursToSeconds(includedHours))
}

/** The price of those, in units of 1e-7 USD. */
export function overageUnits(seconds: number, includedHours: number): number {
  return chargedSeconds(seconds, includedHours) * UNITS_PER_SECOND
}

/** Rounds half up, once per bill. */
export function unitsToCents(units: number): number {
  return Math.floor((units + UNITS_PER_CENT / 2) / UNITS_PER_CENT)
}

/** What a closed cycle costs, from its usage and its plan's hours alone. A trial is never charged. */
export function recordCents(seconds: number, cycle: { includedHours: number; trial: boolean }): number {
  return cycle.trial ? 0 : unitsToCents(overageUnits(seconds, cycle.includedHours))
}

/** How many seconds of each run of a bill are included, oldest first: the plan's hours cover the first ones. */
export function shareBill(runSeconds: number[], cycle: { includedHours: number; trial: boolean }): number[] {
  let [used, charged] = [0, 0]
  return runSeconds.map((seconds) => {
    const before = charged
    used += seconds
    charged = cycle.trial ? 0 : chargedSeconds(used, cycle.includedHours)
    return seconds - (charged - before)
  })
}

export function unitsToDollars(units: number): number {
  return unitsToCents(units) / 100
}

/** The list price of server time, not rounded to cents. */
export function dollarsOf(seconds: number): number {
  return (seconds * UNITS_PER_SECOND) / UNITS_PER_DOLLAR
}

/** What a month with `hours` of use costs in dollars: the plan plus the overage. */
export function monthTotal(plan: Pick<Plan, 'dollarsPerMonth' | 'hours'>, hours: number): number {
  return (plan.dollarsPerMonth ?? 0) + unitsToDollars(overageUnits(hoursToSeconds(hours), plan.hours))
}

/** The rule of the trial banner: 30 minus hoursUsed × 60, never below 0. */
export function trialMinutesLeft(hoursUsed: number): number {
  return Math.max(0, TRIAL_MINUTES - hoursUsed * 60)
}

/** Whole seconds of trial left after using `seconds`. */
export function trialSecondsLeft(seconds: number): number {
  return Math.max(0, TRIAL_MINUTES * 60 - seconds)
}

/**
 * The instant `months` after the anchor, in UTC. A day that the month lacks becomes its last day
 * (January 31 → February 29 → March 31).
 */
export function addMonths(anchor: number, months: number): number {
  const from = new Date(anchor)
  const target = new Date(anchor)
  target.setUTCDate(1)
  target.setUTCMonth(from.getUTCMonth() + months)
  const lastDay = new Date(Date.UTC(target.getUTCFullYear(), target.getUTCMonth() + 1, 0)).getUTCDate()
  target.setUTCDate(Math.min(from.getUTCDate(), lastDay))
  return target.getTime()
}

export type Period = { start: number; end: number }

/** The half-open period [start, end) around `at`, counted from the anchor. Before the anchor, it is the first one. */
export function periodAt(anchor: number, at: number): Period {
  const a = new Date(anchor)
  const b = new Date(at)
  let months = (b.getUTCFullYear() - a.getUTCFullYear()) * 12 + b.getUTCMonth() - a.getUTCMonth()
  if (addMonths(anchor, months) > at) months -= 1
  months = Math.max(0, months)
  return { start: addMonths(anchor, months), end: addMonths(anchor, months + 1) }
}

/** The calendar month of `at` in UTC: the cycle of a user without a plan. */
export function calendarMonth(at: number): Period {
  const d = new Date(at)
  return periodAt(Date.UTC(d.getUTCFullYear(), d.getUTCMonth(), 1), at)
}

type Metered = { meteredUntil: number | null; mustStopAt: number | null; endsAt: number | null }

/** How far a run's meter has run: to its end or now, but never past its trial or the end its user set. */
export function meterEnd(run: Metered, now: number): number {
  return Math.min(run.meteredUntil ?? now, run.mustStopAt ?? Infinity, run.endsAt ?? Infinity)
}
