import { expect, test } from 'vitest'
import { HOUR_MS } from '../../src/domain/instant.ts'
import {
  costOf,
  hourOfWeek,
  hoursText,
  parseHours,
  suggestHours,
  WEEK_HOURS,
  wantedAt,
} from '../../src/domain/warm-hours.ts'

const week = (text: string, count: number) => {
  const some = parseHours(text)
  return Array.from({ length: WEEK_HOURS }, (_, i) => (some.includes(i) ? count : 0))
}
/** Saturday, in Berlin's winter and in its summer. */
const [WINTER, SUMMER] = [Date.UTC(2026, 0, 10), Date.UTC(2026, 6, 11)]

test('hours are read as they are written, also over the end of a week', () => {
  for (const text of ['sat 9-12', 'mon-fri 8-18, sat 9-12', 'mon-sun 0-24', 'tue 23-24, thu 0-1'])
    expect(hoursText(week(text, 2))).toBe(text.replaceAll(/(?=,|$)/g, ': 2'))
  expect(parseHours('sun-mon 0-1')).toEqual([0, 144])
  expect(parseHours('always')).toHaveLength(WEEK_HOURS)
  expect(parseHours('sat')).toHaveLength(24)
  expect(hoursText(week('mon', 0))).toBe('')
  for (const wrong of ['', 'sat 12-9', 'sat 9-25', 'someday', 'sat 9', 'sat 9-12,'])
    expect(() => parseHours(wrong), wrong).toThrow('Write the hours')
})

test('they are those of the operator’s clock, in summer and in winter', () => {
  expect(hourOfWeek(WINTER + 8 * HOUR_MS, 'Europe/Berlin')).toBe(5 * 24 + 9)
  expect(hourOfWeek(SUMMER + 7 * HOUR_MS, 'Europe/Berlin')).toBe(5 * 24 + 9)
})

test('machines begin 15 minutes before their hour, and none is wanted after it', () => {
  const setting = { hours: week('sat 9-12', 5), timeZone: 'UTC' }
  const at = (minutes: number) => wantedAt(setting, WINTER + 9 * HOUR_MS + minutes * 60_000)
  expect([at(-16), at(-15), at(0), at(179), at(180)]).toEqual([0, 5, 5, 5, 0])
})

test('a week costs its hours, and each quarter of an hour before there are more', () => {
  expect(costOf(week('sat 9-12', 5), 140)).toEqual({ machineHours: 16.25, dollars: 22.75 })
  expect(costOf(week('always', 1), null)).toEqual({ machineHours: WEEK_HOURS, dollars: null })
})

test('starts suggest the hours of at least half of the weeks, and as many as came at once', () => {
  const weeks = [0, 1, 2, 3].map((n) => WINTER + n * WEEK_HOURS * HOUR_MS)
  const nine = weeks.flatMap((at) => [9 * HOUR_MS, 9 * HOUR_MS + 1].map((ms) => at + ms))
  const once = [WINTER + 15 * HOUR_MS]
  expect(hoursText(suggestHours([...nine, ...once], 'UTC', 4))).toBe('sat 9-10: 2')
})
