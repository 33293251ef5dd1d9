import { expect, test } from 'vitest'
import {
  condense,
  condenseBy,
  isDiskNearlyFull,
  METRICS,
  ratesOf,
  type Sample,
  tierFor,
} from '../../src/domain/run-metrics.ts'

const UNKNOWN = Object.fromEntries(METRICS.map((name) => [name, null]))
const sample = (at: number, known: Partial<Sample> = {}) =>
  ({ at, disk_total_bytes: null, ...UNKNOWN, ...known }) as Sample

test('samples are fine within the last hour, and coarser for longer', () => {
  const hour = 3_600_000
  const every = (ms: number) => tierFor(ms).everySeconds
  expect([0, hour, hour + 1, 12 * hour, 12 * hour + 1].map(every)).toEqual([10, 10, 60, 60, 600])
  expect([120 * hour, 120 * hour + 1, 720 * hour, 9_000 * hour].map(every)).toEqual([600, 3_600, 3_600, 3_600])
})

test('several samples are one: the mean of shares, the highest of what fills up, and the last count', () => {
  const samples = [
    sample(1, { gpu_percent: 10, memory_bytes: 5, sent_bytes: 900, disk_total_bytes: 50 }),
    sample(2, { gpu_percent: 21, memory_bytes: 9, sent_bytes: 10, disk_total_bytes: 50 }),
    sample(3, { memory_bytes: 7, disk_total_bytes: 60 }),
  ]
  const known = { gpu_percent: 16, memory_bytes: 9, sent_bytes: 10, disk_total_bytes: 60 }
  expect(condense(samples)).toEqual(sample(3, known))
})

test('a period is from its first moment to just before the next', () => {
  expect(
    condenseBy(
      10,
      [0, 9, 10, 19, 35].map((at) => sample(at)),
    ).map(({ at }) => at),
  ).toEqual([9, 19, 35])
  expect(condenseBy(10, [])).toEqual([])
})

test('a rate is between two samples; a count that began again gives none', () => {
  const counts = [100, 2_100, null, 3_000, 500, 1_500]
  const samples = counts.map((sent_bytes, i) => sample(i * 10_000, { sent_bytes }))
  expect(ratesOf(samples, 'sent_bytes')).toEqual([null, 200, null, null, null, 100])
})

test('a disk is nearly full at 90 %, until it is below 85 % again', () => {
  const full = (disk_bytes: number | null, before: boolean, disk_total_bytes: number | null = 1_000) =>
    isDiskNearlyFull(sample(1, { disk_bytes, disk_total_bytes }), before)
  expect([full(899, false), full(900, false), full(850, true), full(849, true)]).toEqual([false, true, true, false])
  expect([full(null, true), full(null, false), full(5, true, 0), full(999, false, null)]).toEqual([
    true,
    false,
    true,
    false,
  ])
})
