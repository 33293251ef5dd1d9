const DAY: Intl.DateTimeFormatOptions = { year: 'numeric', month: 'short', day: 'numeric' }
const MINUTE: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
const ZONE: Intl.DateTimeFormatOptions = { timeZoneName: 'short' }

const LAYOUTS = {
  /** Nov 21, 2026, 02:17 UTC */
  full: { ...DAY, ...MINUTE, ...ZONE },
  /** Nov 21, 02:17: where the zone is said nearby and the year goes without saying */
  brief: { month: 'short', day: 'numeric', ...MINUTE },
  /** 02:17:09 UTC */
  clock: { ...MINUTE, second: '2-digit', ...ZONE },
  day: DAY,
} satisfies Record<string, Intl.DateTimeFormatOptions>

export type InstantLayout = keyof typeof LAYOUTS

const made: Record<string, Intl.DateTimeFormat> = {}

function formatter(layout: InstantLayout, local: boolean): Intl.DateTimeFormat {
  const zone: Intl.DateTimeFormatOptions = local ? {} : { timeZone: 'UTC' }
  const format = made[layout + local] ?? new Intl.DateTimeFormat('en-US', { ...LAYOUTS[layout], ...zone })
  made[layout + local] = format
  return format
}

/**
 * An ISO 8601 instant for people, in UTC or in the zone of this machine. A bare date (YYYY-MM-DD) is a day of the UTC calendar
 * wherever it is read.
 */
export function instantText(at: string, local: boolean, layout: InstantLayout = 'full'): string {
  return (at.length === 10 ? formatter('day', false) : formatter(layout, local)).format(Date.parse(at))
}

/** The same to the second and in UTC. */
export function instantTitle(at: string): string {
  return at.length === 10 ? `${at} (UTC)` : `${at.slice(0, 19).replace('T', ' ')} UTC`
}
