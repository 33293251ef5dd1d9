export const SECOND_MS = 1000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

const DAY: Intl.DateTimeFormatOptions = { year: 'numeric', month: 'short', day: 'numeric' }
const MINUTE: Intl.DateTimeFormatOptions = { hour: 'numeric', minute: '2-digit' }
const SECOND: Intl.DateTimeFormatOptions = { ...MINUTE, second: '2-digit' }

/** On the server, each names UTC, except `day`. */
const LAYOUTS = {
  /** Nov 21, 2026, 2:17 AM, or Nov 21, 2026, 02:17 UTC */
  full: { ...DAY, ...MINUTE },
  /** Nov 21, 2:17 AM: where the year is obvious */
  brief: { month: 'short', day: 'numeric', ...MINUTE },
  /** Nov 21, 2026, 2:17:09 AM */
  exact: { ...DAY, ...SECOND },
  /** 2:17:09 AM */
  clock: SECOND,
  /** 2:17 AM: for a moment in the next hours */
  time: MINUTE,
  day: DAY,
} satisfies Record<string, Intl.DateTimeFormatOptions>

export type InstantLayout = keyof typeof LAYOUTS

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

const made: Partial<Record<InstantLayout, Intl.DateTimeFormat>> = {}

/**
 * Formats an ISO 8601 instant in UTC, or as the reader's own clock shows it. A bare date (YYYY-MM-DD) is a UTC
 * calendar day in every zone.
 */
export function instantText(at: string, local: boolean, layout: InstantLayout = 'full'): string {
  if (at.length === 10) return utcText(at, 'day')
  if (!local) return utcText(at, layout)
  made[layout] ??= new Intl.DateTimeFormat('en-US', {
    ...LAYOUTS[layout],
    // 12 or 24 hours, as in the browser's own fields for times.
    hourCycle: new Intl.DateTimeFormat([], { hour: 'numeric' }).resolvedOptions().hourCycle,
  })
  // Intl puts a narrow space before AM and PM, which some fonts don't have.
  return made[layout].format(Date.parse(at)).replace('\u202f', ' ')
}

/** The same text as Intl's in an eighth of the time: the server writes thousands of them. */
function utcText(at: string, layout: InstantLayout): string {
  const clock = `${at.slice(11, layout === 'clock' || layout === 'exact' ? 19 : 16)} UTC`
  if (layout === 'clock' || layout === 'time') return clock
  const day = `${MONTHS[Number(at.slice(5, 7)) - 1]} ${Number(at.slice(8, 10))}`
  if (layout === 'brief') return `${day}, ${clock}`
  const date = `${day}, ${at.slice(0, 4)}`
  return layout === 'day' ? date : `${date}, ${clock}`
}

const NAMED = /([A-Z][a-z]+ \d+, \d{4}, \d\d:\d\d UTC)/

/** Splits a sentence of ours at the instants it names, so that a page can show them by the reader's clock. */
export function splitAtInstants(text: string): (string | { at: string })[] {
  return text.split(NAMED).map((part, i) => {
    const at = i % 2 ? Date.parse(part) : Number.NaN
    return Number.isNaN(at) ? part : { at: toIso(at) }
  })
}

/** The instant to the second, in UTC. */
export function instantTitle(at: string): string {
  return at.length === 10 ? `${at} (UTC)` : `${at.slice(0, 19).replace('T', ' ')} UTC`
}

export const isMonth = (text: string) => /^\d{4}-(0[1-9]|1[0-2])$/.test(text)

export const WRITE_MONTH = 'Write the month as YYYY-MM, such as 2026-03.'

/** A calendar month in UTC, YYYY-MM, as a half-open period. */
export function monthPeriod(month: string): { start: number; end: number } {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return { start: Date.UTC(year, number - 1, 1), end: Date.UTC(year, number, 1) }
}

/** The calendar day in UTC: YYYY-MM-DD. */
export function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** Turns ms since 1970 into what the wire carries: ISO 8601 in UTC. */
export function toIso(ms: number): string
export function toIso(ms: number | null): string | null
export function toIso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
