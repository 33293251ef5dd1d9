import { DAY_MS, MINUTE_MS, toDay } from './instant.ts'

/** Why nobody can start a server: every place is in use, starts fail, or our own checks aren't running. */
export type IncidentKind = 'full' | 'failing' | 'down'
/** In ms since 1970; null while it lasts. */
export type Incident = { kind: IncidentKind; startedAt: number; endedAt: number | null }

export const STATUS_DAYS = 90
/** Our checks run each minute, except one minute an hour. This long after the last one, we can't tell anymore. */
export const SILENT_MS = 5 * MINUTE_MS

export type StatusDay = {
  /** YYYY-MM-DD in UTC. */
  day: string
  /** Minutes without starts, rounded up. Null: before our first check. */
  minutes: number | null
}

/** The last 90 days, oldest first. Overlapping incidents count once. */
export function statusDays(incidents: Incident[], firstAt: number, now: number): StatusDay[] {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  return Array.from({ length: STATUS_DAYS }, (_, i) => {
    const start = today - (STATUS_DAYS - 1 - i) * DAY_MS
    const end = Math.min(start + DAY_MS, now)
    const minutes = end <= firstAt ? null : Math.ceil(lostMs(incidents, Math.max(start, firstAt), end, now) / MINUTE_MS)
    return { day: toDay(start), minutes }
  })
}

/** For how much of that time nobody could start a server, in ms. */
export function lostMs(incidents: Incident[], from: number, until: number, now: number): number {
  const spans = incidents
    .map(({ startedAt, endedAt }) => ({ start: Math.max(startedAt, from), end: Math.min(endedAt ?? now, until) }))
    .sort((a, b) => a.start - b.start)
  let lost = 0
  let counted = from
  for (const { start, end } of spans) {
    lost += Math.max(0, end - Math.max(start, counted))
    counted = Math.max(counted, end)
  }
  return lost
}

/** `99.98`: rounded down, so that 100 means never. */
export function percentUp(lost: number, of: number): string {
  if (of <= 0 || lost <= 0) return '100'
  return (Math.floor((1 - lost / of) * 10_000) / 100).toFixed(2)
}
