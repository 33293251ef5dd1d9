import { DAY_MS, HOUR_MS } from './instant.ts'

/** When capacity was short, by hour of the week in UTC. */

const WEEK_HOURS = 7 * 24
const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
/** January 1, 1970, was a Thursday, so the first Monday came four days later. */
const FIRST_MONDAY_MS = 4 * DAY_MS

type Span = { from: number; until: number }

/**
 * In each hour of the week, for how many minutes of it capacity was short, on average. Where spans overlap, it counts once.
 * @param from the first moment that the spans cover
 * @returns 168 values, from Monday 00:00
 */
export function shortMinutes(spans: Span[], from: number, now: number): number[] {
  const short = Array.from({ length: WEEK_HOURS }, () => 0)
  let seen = from
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const until = Math.min(span.until, now)
    for (let at = Math.max(span.from, seen); at < until; ) {
      const next = Math.min(until, (Math.floor(at / HOUR_MS) + 1) * HOUR_MS)
      const hour = hourOfWeek(at)
      short[hour] = (short[hour] ?? 0) + (next - at)
      at = next
    }
    seen = Math.max(seen, until)
  }
  const weeks = Math.max(1, (now - from) / (7 * DAY_MS))
  return short.map((ms) => ms / 60_000 / weeks)
}

function hourOfWeek(at: number): number {
  const hours = Math.floor((at - FIRST_MONDAY_MS) / HOUR_MS)
  return ((hours % WEEK_HOURS) + WEEK_HOURS) % WEEK_HOURS
}

/** `Mon 09:00` */
export function hourLabel(hour: number): string {
  return `${DAYS[Math.floor(hour / 24)]} ${String(hour % 24).padStart(2, '0')}:00`
}
