import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { instantText } from '../../src/domain/instant.ts'
import { addMonths, calendarMonth, periodAt } from '../../src/domain/money/billing.ts'
import { dollarsPerMonth, hoursPerDay } from '../../src/domain/money/usage-chart.ts'
import { readAsAmerican } from '../../testing/people/american-reader.ts'

readAsAmerican()

const zoneBefore = process.env.TZ
afterEach(() => {
  if (zoneBefore === undefined) delete process.env.TZ
  else process.env.TZ = zoneBefore
})

const utc = (text: string) => Date.parse(`${text}Z`)
const iso = (at: number) => new Date(at).toISOString()
const MINUTE = 60_000
/** Near a month boundary, where zones disagree about the month. */
const minute = fc
  .tuple(fc.integer({ min: 2011, max: 2039 }), fc.nat(11), fc.integer({ min: -1440, max: 1440 }))
  .map(([year, month, minutes]) => Date.UTC(year, month) + minutes * MINUTE)

// Behind and ahead of UTC, with daylight saving of an hour or half an hour, and one that once skipped a day.
describe.each(['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'Pacific/Apia', 'UTC'])(
  'on a machine in %s',
  (zone) => {
    beforeEach(() => {
      process.env.TZ = zone
    })

    test('counts months in UTC: the same day and time, or the last day of a shorter month', () => {
      expect(new Intl.DateTimeFormat().resolvedOptions().timeZone).toBe(zone)
      fc.assert(
        fc.property(minute, fc.nat(30), (anchor, months) => {
          const moved = iso(addMonths(anchor, months))
          const count = (text: string) => Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7))
          expect(count(moved) - count(iso(anchor))).toBe(months)
          expect(moved.slice(10)).toBe(iso(anchor).slice(10))
          const lastDay = new Date(Date.UTC(Number(moved.slice(0, 4)), Number(moved.slice(5, 7)), 0)).getUTCDate()
          expect(Number(moved.slice(8, 10))).toBe(Math.min(Number(iso(anchor).slice(8, 10)), lastDay))
        }),
      )
    })

    test('cycles begin and end in UTC', () => {
      fc.assert(
        fc.property(minute, minute, (one, other) => {
          const [anchor, at] = [Math.min(one, other), Math.max(one, other)]
          const month = calendarMonth(at)
          expect([iso(month.start).slice(7), iso(month.end).slice(7)]).toEqual(Array(2).fill('-01T00:00:00.000Z'))
          expect(iso(month.start).slice(0, 7)).toBe(iso(at).slice(0, 7))
          const { start, end } = periodAt(anchor, at)
          expect([start <= at, at < end]).toEqual([true, true])
          expect([iso(start).slice(10), iso(end).slice(10)]).toEqual(Array(2).fill(iso(anchor).slice(10)))
        }),
      )
    })

    test('charts use the days and months of UTC', () => {
      for (const now of ['2028-03-01T00:00:00', '2028-03-01T23:59:59']) {
        expect(hoursPerDay([], utc(now), 2).map(({ label }) => label)).toEqual(['02-29', '03-01'])
        expect(dollarsPerMonth([], utc(now), 2).map(({ label }) => label)).toEqual(['2028-02', '2028-03'])
      }
    })

    test("writes an instant in UTC unless the machine's zone is requested", () => {
      fc.assert(
        fc.property(minute, (at) => {
          const intl = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' })
          expect(instantText(iso(at), false)).toBe(`${intl.format(at)}, ${iso(at).slice(11, 16)} UTC`)
        }),
      )
    })
  },
)

test("shows the reader's own clock without a zone", () => {
  process.env.TZ = 'America/New_York'
  expect(instantText('2026-11-21T02:17:09.000Z', true)).toBe('Nov 20, 2026, 9:17 PM')
  expect(instantText('2026-11-21T02:17:09.000Z', true, 'brief')).toBe('Nov 20, 9:17 PM')
})
