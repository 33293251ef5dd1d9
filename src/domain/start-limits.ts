import { DAY_MS, HOUR_MS, MINUTE_MS } from './instant.ts'
import { formatUptime } from './server.ts'

/** At most `starts` in any `ms`. A start is free until the server answers, but each one is a machine at EC2. */
export const START_LIMITS = [
  { starts: 10, ms: 10 * MINUTE_MS, during: '10 minutes', countsExited: true },
  // A program that ended on its own is work done: a matrix of short scenarios may run all day.
  { starts: 30, ms: HOUR_MS, during: 'an hour', countsExited: false },
] as const
export const LONGEST_LIMIT_MS = Math.max(...START_LIMITS.map(({ ms }) => ms))

/**
 * How long a person's machines may run before they answer us, per window. That time is free, so someone who keeps a
 * machine from answering could use it for 10 minutes, again and again. Twenty-four honest starts of 5 minutes fit. Each
 * machine counts for at least a minute, as on EC2's bill: otherwise, stopping each one as it comes up would cost us 30
 * minutes an hour, all day.
 */
export const UNANSWERED_LIMIT = { total: 2 * HOUR_MS, ms: DAY_MS, least: MINUTE_MS } as const

/** @param oldest when the first of the counted starts was requested, in ms since 1970 */
export function tooLongUnanswered(oldest: number, now: number): { seconds: number; sentence: string } {
  const seconds = Math.ceil((oldest + UNANSWERED_LIMIT.ms - now) / 1000)
  return {
    seconds,
    sentence: `Your servers ran for 2 hours without answering in the last 24 hours. Contact us, or try again in ${formatUptime(seconds)}.`,
  }
}

/**
 * Whether one more start at `now` would be too many.
 * @param starts those that count within the longest limit, in any order: when they were requested, in ms since 1970, and
 * whether they ended with their program
 * @returns the seconds until the next start is allowed, and a sentence for the user; null if it is allowed now
 */
export function tooEarly(
  starts: { requestedAt: number; exited: boolean }[],
  now: number,
): { seconds: number; sentence: string } | null {
  const newestFirst = starts.toSorted((a, b) => b.requestedAt - a.requestedAt)
  const waits = START_LIMITS.map((limit) => {
    const counted = newestFirst.filter(({ exited }) => limit.countsExited || !exited)
    const wait = (counted[limit.starts - 1]?.requestedAt ?? Number.NEGATIVE_INFINITY) + limit.ms - now
    return { ...limit, wait }
  })
  const longest = waits.reduce((a, b) => (b.wait > a.wait ? b : a))
  if (longest.wait <= 0) return null
  const seconds = Math.ceil(longest.wait / 1000)
  return {
    seconds,
    sentence: `You can start ${longest.starts} servers in ${longest.during}. Try again in ${formatUptime(seconds)}.`,
  }
}
