import { HOUR_MS, MINUTE_MS } from '../instant.ts'
import { calendarMonth, recordCents, runSecondsWithin } from './billing.ts'
import { type Cycle, cycleFrom, type PlanSpan } from './cycle.ts'

/** A request that was made just before a cycle's end may still be on its way to the database. */
export const CLOSING_GRACE_MS = 2 * MINUTE_MS
/** A cycle that has to wait is looked at again after this time. */
const LOOK_AGAIN_MS = 5 * MINUTE_MS
/** Stripe closes a checkout page a day after it was opened, and we open one within an hour of writing it down. */
export const CHECKOUT_HOLDS_MS = 25 * HOUR_MS
/** A closed account whose last cycle is closed: there is nothing to look for any more. */
const NEVER = Number.MAX_SAFE_INTEGER
/** At once: after a longer outage the rest follows in the next batch. */
const CYCLES_AT_ONCE = 24

/** The times of a run that decide what is billed, all in ms since 1970. */
export type MeteredRun = {
  requestedAt: number
  billedFrom: number | null
  confirmedAt: number | null
  stopRequestedAt: number | null
  meteredUntil: number | null
  endedAt: number | null
}

/** Whether nothing that may still happen to a run changes its seconds before `at`. */
export function isSettledBefore(at: number, run: MeteredRun): boolean {
  if (run.requestedAt >= at || run.endedAt !== null) return true
  // Once its stop was accepted, no meter starts.
  if (run.billedFrom === null) return run.stopRequestedAt !== null
  const confirmedAt = run.confirmedAt ?? run.billedFrom
  // The second that `at` cuts counts before it, if the run lasts to that second's end.
  const lastSecond = Math.ceil(at / 1000) * 1000
  // A meter that stands later than the run was seen may still be taken back to there.
  const meterStands = run.meteredUntil !== null && run.meteredUntil <= confirmedAt
  return run.billedFrom >= at || confirmedAt >= lastSecond || meterStands
}

/** Of a run that goes on, all of the cycle that it was seen to reach: see `isSettledBefore`. */
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
  /** When the checkout page was opened that nobody has paid at, or left, as far as we know. */
  checkoutOpenedAt?: number | null
}

/**
 * The cycles from `from` on that have ended and can no longer change, how far that goes, and when to look again.
 * A cycle without a plan in which nothing ran leaves no record. A closed account's last cycle ends where it was closed.
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
 * A plan may have begun at the open checkout page, and the webhook that says so be late. It cannot have begun in a cycle that was over before
 * the page was opened: so the pages of one cycle hold it up until 25 h after its end at most, however often one is opened.
 */
function isHeldUp({ checkoutOpenedAt }: Ledger, cycle: Cycle, now: number): boolean {
  const openedAt = checkoutOpenedAt ?? Infinity
  return openedAt < cycle.end && now < openedAt + CHECKOUT_HOLDS_MS
}

/** A trial has no end of its own: it is looked at monthly, whatever ends it says so. */
function dueAt(cycle: Cycle, now: number): number {
  return (cycle.end === Infinity ? calendarMonth(now).end : cycle.end) + CLOSING_GRACE_MS
}
