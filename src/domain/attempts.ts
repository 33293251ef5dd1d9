import { DAY_MS, HOUR_MS } from './instant.ts'

/** Guesses at one secret, counted. All times in ms since 1970. */
export type Guesses = { failures: number; lastAt: number; blockedUntil: number }

/** A person mistypes; a program does nothing else. */
export const FREE_GUESSES = 5
const FIRST_DELAY_MS = 5_000
const LONGEST_DELAY_MS = HOUR_MS
/** After so long without a guess the count starts anew. */
export const FORGOTTEN_AFTER_MS = DAY_MS

/**
 * Counts a guess as wrong before it is looked at, so that many at once are counted, too; `forgive` what turns out right.
 * @returns `waitMs` above 0: refused, and nothing was counted
 */
export function countGuess(guesses: Guesses | null, now: number): { guesses: Guesses; waitMs: number } {
  const known =
    guesses && now - guesses.lastAt < FORGOTTEN_AFTER_MS ? guesses : { failures: 0, lastAt: now, blockedUntil: 0 }
  if (now < known.blockedUntil) return { guesses: known, waitMs: known.blockedUntil - now }
  const failures = known.failures + 1
  return { guesses: { failures, lastAt: now, blockedUntil: now + delayAfter(failures) }, waitMs: 0 }
}

/** For one that nobody could look at. What the guesses before it cost still stands, from the moment of the last. */
export function takeBackGuess(guesses: Guesses): Guesses {
  const failures = Math.max(0, guesses.failures - 1)
  return { ...guesses, failures, blockedUntil: guesses.lastAt + delayAfter(failures) }
}

/** Doubles with every failure from the fifth on, up to an hour. */
export function delayAfter(failures: number): number {
  if (failures < FREE_GUESSES) return 0
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - FREE_GUESSES))
}

export type Rate = { count: number; perMs: number }

/**
 * So many in any such time, to the millisecond, as the moments of those that were taken: for few of something dear.
 * @returns `waitMs` above 0: refused, and nothing was taken
 */
export function takeExactlyFrom(
  taken: number[],
  { count, perMs }: Rate,
  now: number,
): { taken: number[]; waitMs: number } {
  const recent = taken.filter((at) => at > now - perMs)
  const oldest = recent[recent.length - count]
  return oldest === undefined ? { taken: [...recent, now], waitMs: 0 } : { taken: recent, waitMs: oldest + perMs - now }
}

/**
 * So many in any such time, as one number: the moment at which all that was taken is paid off (GCRA).
 * @returns `waitMs` above 0: refused, and nothing was taken
 */
export function takeFrom(
  paidOffAt: number | null,
  { count, perMs }: Rate,
  now: number,
): { paidOffAt: number; waitMs: number } {
  const next = Math.max(paidOffAt ?? 0, now) + perMs / count
  // Half a millisecond of grace: the shares of a rate are seldom whole numbers.
  const waitMs = Math.ceil(next - perMs - now - 0.5)
  return waitMs > 0 ? { paidOffAt: paidOffAt ?? 0, waitMs } : { paidOffAt: next, waitMs: 0 }
}
