import { DAY_MS, HOUR_MS } from './instant.ts'

/** The guesses made at one secret. Times in ms since 1970. */
export type Guesses = { failures: number; lastAt: number; blockedUntil: number }

/** People mistype now and then; programs keep guessing. */
export const FREE_GUESSES = 5
const FIRST_DELAY_MS = 5_000
const LONGEST_DELAY_MS = HOUR_MS
/** After this long without a guess, the count starts over. */
export const FORGOTTEN_AFTER_MS = DAY_MS

/**
 * Counts a guess as wrong before anyone checks it, so that simultaneous guesses all count. `forgive` the right ones.
 * @returns `waitMs` above 0: refused and not counted
 */
export function countGuess(guesses: Guesses | null, now: number): { guesses: Guesses; waitMs: number } {
  const known =
    guesses && now - guesses.lastAt < FORGOTTEN_AFTER_MS ? guesses : { failures: 0, lastAt: now, blockedUntil: 0 }
  if (now < known.blockedUntil) return { guesses: known, waitMs: known.blockedUntil - now }
  const failures = known.failures + 1
  return { guesses: { failures, lastAt: now, blockedUntil: now + delayAfter(failures) }, waitMs: 0 }
}

/**
 * Takes back a guess that nobody could check, or that was one of many right ones. The delay for earlier guesses still
 * counts from the last one.
 */
export function takeBackGuess(guesses: Guesses): Guesses {
  const failures = Math.max(0, guesses.failures - 1)
  return { ...guesses, failures, blockedUntil: guesses.lastAt + delayAfter(failures) }
}

/** Doubles with each failure from the fifth on, up to an hour. */
export function delayAfter(failures: number): number {
  if (failures < FREE_GUESSES) return 0
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - FREE_GUESSES))
}

export type Rate = { count: number; perMs: number }

/**
 * A rate limit exact to the millisecond, kept as a list of times: for small counts of something expensive.
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

/** How many more `takeFrom` allows right now, and in how many ms it allows all of them again. */
export function leftOf(paidOffAt: number, { count, perMs }: Rate, now: number): { left: number; fullInMs: number } {
  // The same half a millisecond of grace.
  const left = Math.max(0, Math.floor(((now + perMs + 0.5 - paidOffAt) * count) / perMs))
  return { left, fullInMs: paidOffAt - now }
}

/**
 * A rate limit kept as one number: the moment when everything taken so far is paid off (GCRA).
 * @returns `waitMs` above 0: refused, and nothing was taken
 */
export function takeFrom(
  paidOffAt: number | null,
  { count, perMs }: Rate,
  now: number,
): { paidOffAt: number; waitMs: number } {
  const next = Math.max(paidOffAt ?? 0, now) + perMs / count
  // Half a millisecond of grace: `perMs / count` is rarely a whole number.
  const waitMs = Math.ceil(next - perMs - now - 0.5)
  return waitMs > 0 ? { paidOffAt: paidOffAt ?? 0, waitMs } : { paidOffAt: next, waitMs: 0 }
}
