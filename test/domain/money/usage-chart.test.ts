import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runSecondsWithin } from '../../../src/domain/money/billing.ts'
import { dollarsPerMonth, hoursPerDay } from '../../../src/domain/money/usage-chart.ts'

const utc = (text: string) => Date.parse(`${text}Z`)

test('the days end with today in UTC, and a run over midnight counts in both', () => {
  const now = utc('2028-03-01T23:59:59.999')
  const runs = [
    { start: utc('2028-02-29T23:30:00'), end: utc('2028-03-01T02:00:00') },
    { start: utc('2028-03-01T10:00:00'), end: utc('2028-03-01T10:30:00') },
    { start: utc('2028-02-27T00:00:00'), end: utc('2028-02-27T24:00:00') },
  ]
  expect(hoursPerDay(runs, now, 3)).toEqual([
    { label: '02-28', value: 0 },
    { label: '02-29', value: 0.5 },
    { label: '03-01', value: 2.5 },
  ])
  expect(hoursPerDay([], utc('2028-03-01T00:00:00'), 1)).toEqual([{ label: '03-01', value: 0 }])
})

test('all that ran on those days is in one of the bars', () => {
  const now = utc('2028-03-15T12:00:00')
  const run = fc
    .tuple(fc.integer({ min: now - 10 * 86_400_000, max: now }), fc.nat(3 * 86_400_000))
    .map(([start, length]) => ({ start, end: Math.min(now, start + length) }))
  fc.assert(
    fc.property(fc.array(run), (runs) => {
      const days = { start: utc('2028-03-09T00:00:00'), end: utc('2028-03-16T00:00:00') }
      const ran = runs.reduce((sum, { start, end }) => sum + runSecondsWithin(start, end, days), 0)
      const hours = hoursPerDay(runs, now, 7).reduce((sum, { value }) => sum + value, 0)
      expect(Math.round(hours * 3600)).toBe(ran)
    }),
  )
})

test('the months end with the current one, across a new year, and dollars add up in cents', () => {
  const bills = [
    { month: '2027-11', dollars: 99 },
    { month: '2027-12', dollars: 0.1 },
    { month: '2027-12', dollars: 0.2 },
    { month: '2028-02', dollars: 1.75 },
    { month: '2028-02', dollars: -0.5 },
    { month: '2029-02', dollars: 99 },
  ]
  for (const now of ['2028-02-01T00:00:00', '2028-02-29T23:59:59.999'])
    expect(dollarsPerMonth(bills, utc(now), 3)).toEqual([
      { label: '2027-12', value: 0.3 },
      { label: '2028-01', value: 0 },
      { label: '2028-02', value: 1.25 },
    ])
  // The month before has no 31st, so we count from the first.
  expect(dollarsPerMonth([], utc('2028-03-31T12:00:00'), 2).map(({ label }) => label)).toEqual(['2028-02', '2028-03'])
})
