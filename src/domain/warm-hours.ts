import { AppError } from './error.ts'
import { MINUTE_MS } from './instant.ts'

/** Hours of the week are counted from Monday at 0:00 in the operator's time zone. */
export const WEEK_HOURS = 168
/** A fleet that needs more waiting machines of a kind than this needs another plan. */
const MOST_WARM = 50
/** A machine boots and pulls its images before the hour that it is for. */
const AHEAD_MS = 15 * MINUTE_MS

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
const WORDS = 'Write the hours as days and times, such as "sat 9-12", "mon-fri 8-18, sat 9-12", or "always".'

const invalid = (message: string) => new AppError('invalid', message, { field: 'hours' })

/** The hours of the week that a text such as `mon-fri 8-18, sat 9-12` means. @throws invalid */
export function parseHours(text: string): number[] {
  const parts = text.toLowerCase().split(',')
  return [...new Set(parts.flatMap((part) => partHours(part.trim())))].sort((a, b) => a - b)
}

function partHours(part: string): number[] {
  if (part === 'always') return Array.from({ length: WEEK_HOURS }, (_, i) => i)
  const [, from = '', to = from, start = '0', end = '24'] =
    /^([a-z]{3})(?:-([a-z]{3}))?(?: (\d{1,2})-(\d{1,2}))?$/.exec(part) ?? []
  const [first, last, begin, until] = [DAYS.indexOf(from), DAYS.indexOf(to), Number(start), Number(end)]
  if (first < 0 || last < 0 || begin >= until || until > 24) throw invalid(WORDS)
  const days = Array.from({ length: ((last - first + 7) % 7) + 1 }, (_, i) => (first + i) % 7)
  return days.flatMap((day) => Array.from({ length: until - begin }, (_, i) => day * 24 + begin + i))
}

/** The opposite: `mon-fri 8-18: 2, sat 9-12: 5`. Omits hours with 0. */
export function hoursText(hours: number[]): string {
  const days = DAYS.map((_, day) => daySpans(hours.slice(day * 24, day * 24 + 24)))
  const parts: string[] = []
  for (let day = 0; day < 7; ) {
    let last = day
    while (last < 6 && days[last + 1] === days[day]) last++
    const name = last > day ? `${DAYS[day]}-${DAYS[last]}` : `${DAYS[day]}`
    if (days[day]) parts.push(...(days[day] ?? '').split(';').map((span) => `${name} ${span}`))
    day = last + 1
  }
  return parts.join(', ')
}

function daySpans(hours: number[]): string {
  const spans: string[] = []
  for (let from = 0; from < 24; ) {
    let until = from + 1
    while (until < 24 && hours[until] === hours[from]) until++
    if (hours[from]) spans.push(`${from}-${until}: ${hours[from]}`)
    from = until
  }
  return spans.join(';')
}

/** @throws invalid */
export function checkTimeZone(timeZone: string): void {
  try {
    hourOfWeek(0, timeZone)
  } catch {
    throw new AppError('invalid', 'The time zone must be a name such as Europe/Berlin or America/New_York.', {
      field: 'time_zone',
    })
  }
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Which hour of the week it is there. */
export function hourOfWeek(at: number, timeZone: string): number {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-US', { timeZone, weekday: 'short', hour: 'numeric', hourCycle: 'h23' })
  formats.set(timeZone, format)
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
  return DAYS.indexOf((parts.weekday ?? '').toLowerCase()) * 24 + Number(parts.hour)
}

type Setting = { hours: number[]; timeZone: string }

/** How many machines to have, or to have begun by now for the coming hour. */
export function wantedAt({ hours, timeZone }: Setting, now: number): number {
  const at = (moment: number) => hours[hourOfWeek(moment, timeZone)] ?? 0
  return Math.max(at(now), at(now + AHEAD_MS))
}

/** What a week costs at most: a machine that a start takes costs no more than one that the start would have launched. */
export type WarmCost = { machineHours: number; dollars: number | null }

/** Adds the quarter of an hour before each increase. @param hourCents what one costs an hour, if known */
export function costOf(hours: number[], hourCents: number | null): WarmCost {
  const machineHours = hours.reduce((sum, count, i) => {
    const next = hours[(i + 1) % WEEK_HOURS] ?? 0
    return sum + count + (Math.max(0, next - count) * AHEAD_MS) / (60 * MINUTE_MS)
  }, 0)
  return { machineHours, dollars: hourCents === null ? null : (machineHours * hourCents) / 100 }
}

/** `15.75 machine hours, $22.05`. Without a price, no dollars. */
export function costText({ machineHours, dollars }: WarmCost): string {
  const hours = `${Number(machineHours.toFixed(2))} machine hours`
  return dollars === null ? hours : `${hours}, ${dollarText(dollars)}`
}

/** What it would cost to keep this many warm in these hours, in a sentence. @param hourDollars null: not known @throws invalid */
export function costAnswer(text: string, count: number, hourDollars: number | null): string {
  const some = new Set(parseHours(text))
  checkCount(count)
  const hours = Array.from({ length: WEEK_HOURS }, (_, i) => (some.has(i) ? count : 0))
  const cost = costOf(hours, hourDollars === null ? null : hourDollars * 100)
  const price =
    hourDollars === null
      ? ' Enter the price of one to see the cost in dollars.'
      : ` They cost ${dollarText(count * hourDollars)} an hour while they wait.`
  return `At most ${costText(cost)} a week, including 15 minutes to get ready.${price}`
}

/** @throws invalid */
export function checkCount(count: number): void {
  if (!Number.isInteger(count) || count < 0 || count > MOST_WARM)
    throw new AppError('invalid', `The count must be a whole number from 0 to ${MOST_WARM}.`, { field: 'count' })
}

const dollarText = (dollars: number) => dollars.toLocaleString('en-US', { style: 'currency', currency: 'USD' })

/**
 * How many machines would have met the starts of the last weeks: for each hour of the week, the number of starts in its
 * busiest quarter of an hour, if people started in that hour in at least half of the weeks. A new machine takes about
 * that long to be ready.
 * @param starts their times
 */
export function suggestHours(starts: number[], timeZone: string, weeks: number): number[] {
  const byHour = Array.from({ length: WEEK_HOURS }, () => ({
    weeks: new Set<number>(),
    quarters: new Map<number, number>(),
  }))
  for (const at of starts) {
    const hour = byHour[hourOfWeek(at, timeZone)]
    if (!hour) continue
    const quarter = Math.floor(at / AHEAD_MS)
    hour.weeks.add(Math.floor(at / (WEEK_HOURS * 60 * MINUTE_MS)))
    hour.quarters.set(quarter, (hour.quarters.get(quarter) ?? 0) + 1)
  }
  return byHour.map(({ weeks: seen, quarters }) =>
    seen.size * 2 >= weeks ? Math.min(MOST_WARM, Math.max(...quarters.values())) : 0,
  )
}
