import fc from 'fast-check'
import { expect, test } from 'vitest'
import { costSoFar } from '../../../src/domain/money/cost-chart.ts'
import { type CostLine, freeBecause, shareCycle, sumOfLines } from '../../../src/domain/money/run-cost.ts'

const AT = Date.UTC(2028, 0, 31, 8)
const HOUR = 3_600_000
const iso = (ms: number) => new Date(ms).toISOString()
const cycle = { start: AT, end: AT + 100 * HOUR, includedHours: 1, trial: false }

test('the oldest runs of a cycle use up its hours', () => {
  const shares = shareCycle(cycle, [
    { start: AT + 10 * HOUR, end: AT + 11 * HOUR },
    { start: AT - HOUR, end: AT + HOUR / 2 },
    { start: AT + 200 * HOUR, end: AT + 201 * HOUR },
  ])
  expect(shares).toMatchObject([
    { start: AT, end: AT + HOUR / 2, seconds: 1_800, included: 1_800, units: 0 },
    { start: AT + 10 * HOUR, seconds: 3_600, included: 1_800, units: 1_800 * 4861 },
  ])
})

test('the clocks beside the seconds of a share are whole seconds, and differ by just those', () => {
  const ms = fc.nat(7 * HOUR)
  fc.assert(
    fc.property(fc.array(fc.tuple(ms, ms), { maxLength: 5 }), ms, ms, (runs, offset, length) => {
      const part = { start: AT + offset, end: AT + offset + length, includedHours: 1, trial: false }
      for (const { start, end, seconds, run } of shareCycle(
        part,
        runs.map(([from, lasts]) => ({ start: AT + from, end: AT + from + lasts })),
      )) {
        expect([start % 1000, end % 1000, end - start]).toEqual([0, 0, seconds * 1000])
        expect(start).toBeGreaterThanOrEqual(run.start)
        expect(end).toBeLessThanOrEqual(run.end)
      }
    }),
  )
})

const line: CostLine = {
  bill: null,
  correction: false,
  start: iso(AT),
  end: iso(AT + 2 * HOUR),
  seconds: 7_200,
  included: 3_600,
  dollars: 1.74996,
  trial: false,
}

test('a run is free because of its trial only if no plan took it over', () => {
  const trial = { ...line, included: 7_200, dollars: 0, trial: true }
  const plan = { ...trial, trial: false }
  const credit = { ...plan, correction: true, seconds: -10, included: -10 }
  expect(freeBecause([trial])).toBe('trial')
  expect(freeBecause([trial, credit])).toBe('trial')
  expect(freeBecause([trial, plan])).toBe('plan')
  expect(freeBecause([trial, line])).toBeNull()
  expect(freeBecause([])).toBeNull()
})

test('lines and credits add up without a rounding error', () => {
  const credit = { ...line, correction: true, seconds: -10, included: -4, dollars: -0.0029166 }
  expect(sumOfLines([])).toEqual({ seconds: 0, included_seconds: 0, billed_seconds: 0, dollars: 0 })
  expect(sumOfLines([line, credit])).toEqual({
    seconds: 7_190,
    included_seconds: 3_596,
    billed_seconds: 3_594,
    dollars: 1.7470434,
  })
})

test('the chart is flat while the plan covers it, and ends at the cost', () => {
  const bars = costSoFar([line])
  expect(bars.length).toBeLessThanOrEqual(24)
  expect(bars[0]).toMatchObject({ label: '08:10 UTC', value: 0 })
  expect(bars.find(({ label }) => label === '09:00 UTC')?.value).toBe(0)
  expect(bars.find(({ label }) => label === '09:10 UTC')?.value).toBeCloseTo(600 * 0.0004861, 7)
  expect(bars.at(-1)).toEqual({ at: line.end, layout: 'time', label: '10:00 UTC', value: 1.74996 })
  expect(new Set(bars.map(({ label }) => label)).size).toBe(bars.length)
})

test.each([1, 59, 3_600, 86_400, 30 * 86_400, 400 * 86_400])('%i seconds fit into a chart', (seconds) => {
  const bars = costSoFar([{ ...line, end: iso(AT + 300 + seconds * 1000), seconds, included: 0, dollars: 9 }])
  expect(bars.length).toBeGreaterThan(0)
  expect(bars.length).toBeLessThanOrEqual(26)
  expect(new Set(bars.map(({ label }) => label)).size).toBe(bars.length)
  expect(bars.at(-1)?.value).toBeCloseTo(9, 7)
})

test('what never ran has no chart', () => {
  expect(costSoFar([])).toEqual([])
})
