import { UNITS_PER_DOLLAR, UNITS_PER_SECOND } from './money.ts'
import { type Plan, TRIAL_MINUTES } from './plan.ts'

const UNITS_PER_CENT = UNITS_PER_DOLLAR / 100

/**
 * Billed seconds of a run: whole seconds that lie inside it, so never more than it ran.
 * @param start ms since 1970 of the server's first answer
 * @param end ms since 1970 of the accepted stop, or of now while it runs
 */
export function runSeconds(start: number, end: number): number {
  return Math.max(0, Math.floor(end / 1000) - Math.ceil(start / 1000))
}

/**
 * Seconds of a run that belong to a half-open period. A second belongs to the period in which it begins, so that the
 * sum over adjoining periods is the run's `runSeconds`, wherever the boundaries fall.
 */
export function runSecondsWithin(start: number, end: number, period: Period): number {
  const from = Math.max(Math.ceil(start / 1000), Math.ceil(period.start / 1000))
  const to = Math.min(Math.floor(end / 1000), Math.ceil(period.end / 1000))
  return Math.max(0, to - from)
}

/** Whole seconds: a plan's hours may come with a fraction. */
export function hoursToSeconds(includedHours: number): number {
  return Math.round(includedHours * 3600)
}

/** What was used beyond the included hours. */
export function chargedSeconds(seconds: number, includedHours: number): number {
  return Math.max(0, seconds - hoursToSeconds(includedHours))
}

/** The price of that, in units of 1e-7 USD. */
export function overageUnits(seconds: number, includedHours: number): number {
  return chargedSeconds(seconds, includedHours) * UNITS_PER_SECOND
}

/** Rounded half up, once per billing record. */
export function unitsToCents(units: number): number {
  return Math.floor((units + UNITS_PER_CENT / 2) / UNITS_PER_CENT)
}

/** What a closed cycle costs, from nothing but what was used and what the plan included. A trial is never charged. */
export function recordCents(seconds: number, cycle: { includedHours: number; trial: boolean }): number {
  return cycle.trial ? 0 : unitsToCents(overageUnits(seconds, cycle.includedHours))
}

export function unitsToDollars(units: number): number {
  return unitsToCents(units) / 100
}

/** What seconds of server time cost alone, without any plan, to the last fraction of a cent. */
export function dollarsOf(seconds: number): number {
  return (seconds * UNITS_PER_SECOND) / UNITS_PER_DOLLAR
}

/** What a month of `hours` costs in dollars: the plan, and what goes beyond its hours. */
export function monthTotal(plan: Pick<Plan, 'dollarsPerMonth' | 'hours'>, hours: number): number {
  return (plan.dollarsPerMonth ?? 0) + unitsToDollars(overageUnits(hoursToSeconds(hours), plan.hours))
}

/** The rule of the trial banner: 30 minus hoursUsed × 60, never below 0. */
export function trialMinutesLeft(hoursUsed: number): number {
  return Math.max(0, TRIAL_MINUTES - hoursUsed * 60)
}

/** Whole seconds of trial left after `seconds` used. */
export function trialSecondsLeft(seconds: number): number {
  return Math.max(0, TRIAL_MINUTES * 60 - seconds)
}

/** The instant `months` after the anchor, in UTC; a day the month lacks becomes its last one (31 January → 29 February → 31 March). */
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

/** The half-open period [start, end) that `at` lies in, always counted from the anchor. `at` before the anchor is in the first. */
export function periodAt(anchor: number, at: number): Period {
  const a = new Date(anchor)
  const b = new Date(at)
  let months = (b.getUTCFullYear() - a.getUTCFullYear()) * 12 + b.getUTCMonth() - a.getUTCMonth()
  if (addMonths(anchor, months) > at) months -= 1
  months = Math.max(0, months)
  return { start: addMonths(anchor, months), end: addMonths(anchor, months + 1) }
}

/** The calendar month of `at` in UTC: the cycle of someone without a plan. */
export function calendarMonth(at: number): Period {
  const d = new Date(at)
  return periodAt(Date.UTC(d.getUTCFullYear(), d.getUTCMonth(), 1), at)
}

/** Where a run's meter stands: its end, or now, but never past the end of its trial. */
export function meterEnd(run: { meteredUntil: number | null; mustStopAt: number | null }, now: number): number {
  return Math.min(run.meteredUntil ?? now, run.mustStopAt ?? Number.POSITIVE_INFINITY)
}
