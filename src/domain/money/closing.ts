import { HOUR_MS, MINUTE_MS } from '../instant.ts'
import { calendarMonth, recordCents, runSecondsWithin } from './billing.ts'
import { type Cycle, cycleFrom, type PlanSpan } from './cycle.ts'

/** A request made just before a cycle ends may still be on its way to the database. */
export const CLOSING_GRACE_MS = 2 * MINUTE_MS
/** How soon we look again at a cycle that has to wait. */
const LOOK_AGAIN_MS = 5 * MINUTE_MS
/** Stripe closes a checkout page a day after it opens, and we open one within an hour of writing it down. */
export const CHECKOUT_HOLDS_MS = 25 * HOUR_MS
/** For a closed account whose last cycle is closed: nothing is left to do. */
const NEVER = Number.MAX_SAFE_INTEGER
/** After a long outage, the rest follows in the next batch. */
const CYCLES_AT_ONCE = 24

/** The times that decide what we bill for a run, in ms since 1970. */
export type MeteredRun = {
  requestedAt: number
  billedFrom: number | null
  confirmedAt: number | null
  /** When it must stop: at the end of its trial, or when its user wants it to. */
  mustStopAt: number | null
  endsAt: number | null
  stopRequestedAt: number | null
  meteredUntil: number | null
  endedAt: number | null
}

/** Whether a run's seconds before `at` can no longer change. */
export function isSettledBefore(at: number, run: MeteredRun): boolean {
  if (run.requestedAt >= at || run.endedAt !== null) return true
  // After we accept a stop, the meter never starts.
  if (run.billedFrom === null) return run.stopRequestedAt !== null
  const confirmedAt = run.confirmedAt ?? run.billedFrom
  // The second that `at` cuts counts as before `at` if the run lasts to the end of that second.
  const lastSecond = Math.ceil(at / 1000) * 1000
  // A meter that ended after we last saw the run may still be set back to that moment.
  const meterStands = run.meteredUntil !== null && run.meteredUntil <= confirmedAt
  // The run should have ended by now. Until we stop it, its meter runs on, and is then set back to that end.
  const isLate = Math.min(run.mustStopAt ?? Infinity, run.endsAt ?? Infinity) < lastSecond
  return run.billedFrom >= at || (confirmedAt >= lastSecond && !isLate) || meterStands
}

/** A run in progress counts through the cycle's end, which it was seen to reach: see `isSettledBefore`. */
export function cycleSeconds(cycle: Cycle, runs: MeteredRun[]): number {
  let seconds = 0
  for (const run of runs)
    if (run.billedFrom !== null) seconds += runSecondsWithin(run.billedFrom, run.meteredUntil ?? Infinity, cycle)
  return seconds
}

export type ClosedCycle = { cycle: Cycle; seconds: number; amountCents: number }

export type Ledger = {
  /** Where the last closed cycle ended. */
  from: number
  closedAt: number | null
  spans: PlanSpan[]
  runs: MeteredRun[]
  /** When the user opened a checkout page that, as far as we know, they have neither paid on nor left. */
  checkoutOpenedAt?: number | null
}

/**
 * The cycles since `from` that have ended and can no longer change, how far they reach, and when to look again.
 * A cycle without a plan and without runs leaves no bill. A closed account's last cycle ends when it was closed.
 */
export function closeCycles(
  account: Ledger,
  now: number,
): { closed: ClosedCycle[]; billedUntil: number; dueAt: number } {
  const closed: ClosedCycle[] = []
  let billedUntil = account.from
  for (let n = 0; n < CYCLES_AT_ONCE; n++) {
    const last = account.closedAt ?? Infinity
    if (billedUntil >= last) return { closed, billedUntil, dueAt: NEVER }
    const whole = cycleFrom(account.spans, billedUntil)
    const cycle = { ...whole, end: Math.min(whole.end, last) }
    if (cycle.end + CLOSING_GRACE_MS > now) return { closed, billedUntil, dueAt: dueAt(cycle, now) }
    if (isHeldUp(account, cycle, now) || !account.runs.every((run) => isSettledBefore(cycle.end, run)))
      return { closed, billedUntil, dueAt: now + LOOK_AGAIN_MS }
    const seconds = cycleSeconds(cycle, account.runs)
    if (seconds > 0 || cycle.plan?.subType === 'paid')
      closed.push({ cycle, seconds, amountCents: recordCents(seconds, cycle) })
    billedUntil = cycle.end
  }
  return { closed, billedUntil, dueAt: now }
}

/**
 * A plan may have begun on the open checkout page, with its webhook running late. It cannot have begun in a cycle that
 * was over before the page opened, so checkout pages hold up a cycle for at most 25 h after its end, however many.
 */
function isHeldUp({ checkoutOpenedAt }: Ledger, cycle: Cycle, now: number): boolean {
  const openedAt = checkoutOpenedAt ?? Infinity
  return openedAt < cycle.end && now < openedAt + CHECKOUT_HOLDS_MS
}

/** A trial has no end of its own, so we look at it monthly; whatever ends it also makes it due. */
function dueAt(cycle: Cycle, now: number): number {
  return (cycle.end === Infinity ? calendarMonth(now).end : cycle.end) + CLOSING_GRACE_MS
}
