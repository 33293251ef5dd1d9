import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addMonths,
  calendarMonth,
  dollarsOf,
  meterEnd,
  overageUnits,
  periodAt,
  recordCents,
  runSeconds,
  runSecondsWithin,
  shareBill,
  trialMinutesLeft,
  trialSecondsLeft,
  unitsToCents,
  unitsToDollars,
} from '../../../src/domain/money/billing.ts'

const utc = (text: string) => Date.parse(`${text}Z`)
const instant = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2040, 0, 1) })
const run = fc
  .tuple(instant, fc.integer({ min: 0, max: 400 * 86_400_000 }))
  .map(([start, length]) => ({ start, end: start + length }))

describe('the seconds of a run', () => {
  test('never exceed the length of the run, and fall less than two seconds short', () => {
    fc.assert(
      fc.property(run, ({ start, end }) => {
        const seconds = runSeconds(start, end)
        expect(seconds * 1000).toBeLessThanOrEqual(end - start)
        expect(seconds * 1000).toBeGreaterThan(end - start - 2000)
      }),
    )
  })

  test('add up over adjacent periods, wherever the boundaries fall', () => {
    fc.assert(
      fc.property(run, fc.array(fc.double({ min: -0.1, max: 1.1, noNaN: true })), ({ start, end }, cuts) => {
        const at = cuts.map((cut) => Math.round(start + cut * (end - start))).sort((a, b) => a - b)
        const edges = [-Infinity, ...at, Infinity]
        const parts = edges
          .slice(1)
          .map((edge, i) => runSecondsWithin(start, end, { start: edges[i] as number, end: edge }))
        expect(parts.reduce((a, b) => a + b, 0)).toBe(runSeconds(start, end))
      }),
    )
  })

  test('never exceed the period they fall in, rounded up to a whole second', () => {
    fc.assert(
      fc.property(run, instant, ({ start, end }, anchor) => {
        const period = periodAt(anchor, start)
        const part = runSecondsWithin(start, end, period)
        expect(part).toBeLessThanOrEqual(Math.ceil((period.end - period.start) / 1000))
        expect(part).toBeLessThanOrEqual(runSeconds(start, end))
      }),
    )
  })
})

describe('the amount', () => {
  test('is nothing within the plan, then 4861 units a second, rounded half up once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40_000_000 }), fc.constantFrom(0, 0.5, 5, 30, 120), (seconds, hours) => {
        const over = BigInt(Math.max(0, seconds - hours * 3600))
        expect(recordCents(seconds, { includedHours: hours, trial: false })).toBe(
          Number((over * 4861n * 2n + 100_000n) / 200_000n),
        )
      }),
    )
  })

  test('rounds half a cent up', () => {
    expect([49_999, 50_000, 149_999, 150_000].map(unitsToCents)).toEqual([0, 1, 1, 2])
  })

  test('is $1.75 for an hour beyond the plan, and never anything in a trial', () => {
    expect(overageUnits(3600, 0)).toBe(17_499_600)
    expect(recordCents(3600, { includedHours: 0, trial: false })).toBe(175)
    expect(recordCents(1_000_000, { includedHours: 0.5, trial: true })).toBe(0)
  })

  test('never falls as use grows', () => {
    fc.assert(
      fc.property(fc.nat(10_000_000), fc.nat(10_000), fc.nat(100), (seconds, more, includedHours) => {
        const cycle = { includedHours, trial: false }
        expect(recordCents(seconds + more, cycle)).toBeGreaterThanOrEqual(recordCents(seconds, cycle))
      }),
    )
  })
})

test('converts to dollars in whole cents', () => {
  expect([0, 49_999, 50_000, 17_499_600].map(unitsToDollars)).toEqual([0, 0, 0.01, 1.75])
})

test('a trial has 30 minutes, and what is left is never negative', () => {
  expect([0, 0.25, 0.5, 0.6].map(trialMinutesLeft)).toEqual([30, 15, 0, 0])
  expect([0, 1, 1_799, 1_800, 1_801].map(trialSecondsLeft)).toEqual([1_800, 1_799, 1, 0, 0])
})

describe('periods', () => {
  test('are counted from the anchor: January 31, February 29, March 31', () => {
    const anchor = utc('2028-01-31T08:30:00')
    expect([0, 1, 2, 3, 13].map((n) => new Date(addMonths(anchor, n)).toISOString().slice(0, 16))).toEqual([
      '2028-01-31T08:30',
      '2028-02-29T08:30',
      '2028-03-31T08:30',
      '2028-04-30T08:30',
      '2029-02-28T08:30',
    ])
  })

  test('contain their instant, are adjacent, and start at the anchor', () => {
    fc.assert(
      fc.property(instant, fc.nat(20 * 365 * 86_400_000), (anchor, later) => {
        const at = anchor + later
        const period = periodAt(anchor, at)
        expect(period.start).toBeLessThanOrEqual(at)
        expect(period.end).toBeGreaterThan(at)
        expect(periodAt(anchor, period.end).start).toBe(period.end)
        expect(periodAt(anchor, period.end - 1)).toEqual(period)
        expect(periodAt(anchor, anchor).start).toBe(anchor)
      }),
    )
  })

  test('without a plan, are calendar months in UTC', () => {
    expect(calendarMonth(utc('2028-02-29T23:59:59.999'))).toEqual({
      start: utc('2028-02-01T00:00:00'),
      end: utc('2028-03-01T00:00:00'),
    })
  })
})

test('seconds alone cost 4,861 units each, to the last fraction of a cent', () => {
  expect([0, 1, 10_000].map(dollarsOf)).toEqual([0, 0.0004861, 4.861])
})

test.each([
  [{ meteredUntil: null, mustStopAt: null }, 100],
  [{ meteredUntil: 60, mustStopAt: null }, 60],
  [{ meteredUntil: null, mustStopAt: 80 }, 80],
  [{ meteredUntil: null, mustStopAt: 130 }, 100],
  [{ meteredUntil: 90, mustStopAt: 80 }, 80],
])('the meter of %j is at %d when it is 100', (run, expected) => {
  expect(meterEnd({ ...run, endsAt: null }, 100)).toBe(expected)
})

test('the meter never passes the end its user set', () => {
  expect(meterEnd({ meteredUntil: null, mustStopAt: 90, endsAt: 70 }, 100)).toBe(70)
  expect(meterEnd({ meteredUntil: null, mustStopAt: 90, endsAt: 95 }, 100)).toBe(90)
})

test("a bill's runs add up to it: seconds included and seconds billed", () => {
  expect(shareBill([3600, 18_000, 11], { includedHours: 5, trial: false })).toEqual([3600, 14_400, 0])
  const runs = fc.array(fc.integer({ min: 0, max: 1_000_000 }))
  fc.assert(
    fc.property(runs, fc.double({ min: 0, max: 200, noNaN: true }), fc.boolean(), (seconds, includedHours, trial) => {
      const cycle = { includedHours, trial }
      const all = seconds.reduce((sum, n) => sum + n, 0)
      const shares = shareBill(seconds, cycle)
      const covered = trial ? all : Math.min(all, Math.round(includedHours * 3600))
      expect(shares.reduce((sum, included) => sum + included, 0)).toBe(covered)
      for (const [i, included] of shares.entries()) {
        expect(included).toBeLessThanOrEqual(seconds[i] ?? 0)
        expect(included).toBeGreaterThanOrEqual(0)
      }
    }),
  )
})
