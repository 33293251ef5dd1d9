import { expect, test } from 'vitest'
import { estimateInLine, estimateWait, FEWEST_WAITS, type LineWait, positionsLike } from '../../src/domain/estimate.ts'
import { seededRandom } from '../../testing/random.ts'
import { playLineMonth, shareWithin } from '../../testing/world/line-month.ts'

const MINUTE = 60_000
/** They waited 1, 2, 3… minutes. */
const waits = (count: number, position = 1): LineWait[] =>
  Array.from({ length: count }, (_, i) => ({ position, waitedMs: (i + 1) * MINUTE, served: true }))

test("with too few waits, we don't know yet", () => {
  expect(estimateInLine(waits(FEWEST_WAITS - 1), 1)).toBeNull()
  expect(estimateInLine(waits(FEWEST_WAITS), 1)).not.toBeNull()
})

test('half waited no longer than p50, nine in ten no longer than p90', () => {
  expect(estimateInLine(waits(99), 1)).toEqual({ p50: 50 * 60, p90: 90 * 60 })
})

test('few waits make it later, never earlier', () => {
  expect(estimateInLine(waits(20), 1)).toEqual({ p50: 11 * 60, p90: 19 * 60 })
})

test('only waits from positions like this one count', () => {
  expect(estimateInLine(waits(40, 2), 1)).toBeNull()
  expect(estimateInLine(waits(40, 4), 3)).not.toBeNull()
  expect(estimateInLine(waits(40, 5), 4)).toBeNull()
  expect(positionsLike(1)).toEqual({ from: 1, to: 1 })
  expect(positionsLike(7)).toEqual({ from: 5, to: 7 })
  expect(positionsLike(5_000).to).toBeGreaterThan(5_000)
})

test('those who left would have waited longer', () => {
  const left = waits(30).map((wait) => ({ ...wait, served: false }))
  const estimate = estimateInLine([...waits(60), ...left], 1)
  const servedOnly = estimateInLine(waits(60), 1)
  expect(estimate?.p50).toBeGreaterThan(servedOnly?.p50 ?? 0)
  // Nobody knows how long the last ones would have waited.
  const mostLeft = waits(200).map((wait, i) => ({ ...wait, served: i < 40 }))
  expect(estimateInLine(mostLeft, 1)).toBeNull()
})

test('a wait that failed or was given up never makes the estimate earlier', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const luck = seededRandom(seed)
    const wait = (served: boolean) => ({ waitedMs: Math.round(luck.next() * 10 * MINUTE), served })
    const served = Array.from({ length: FEWEST_WAITS + Math.floor(luck.next() * 30) }, () => wait(true))
    const left = Array.from({ length: 1 + Math.floor(luck.next() * 40) }, () => wait(false))
    const [without, all] = [estimateWait(served), estimateWait([...left, ...served])]
    expect(without?.p50).toBeLessThanOrEqual(without?.p90 ?? 0)
    if (!all) continue
    expect(all.p50).toBeGreaterThanOrEqual(without?.p50 ?? 0)
    expect(all.p90).toBeGreaterThanOrEqual(without?.p90 ?? 0)
  }
})

test('the next person waits longer than p90 at most one time in ten', () => {
  const luck = seededRandom(5)
  const wait = (): LineWait => ({ position: 1, waitedMs: -Math.log(1 - luck.next()) * 10 * MINUTE, served: true })
  let late = 0
  for (let i = 0; i < 2_000; i++) {
    const p90 = estimateInLine(Array.from({ length: 30 }, wait), 1)?.p90 ?? 0
    if (wait().waitedMs > p90 * 1000) late++
  }
  expect(late / 2_000).toBeLessThan(0.11)
  expect(late / 2_000).toBeGreaterThan(0.05)
})

test('half of the people in a played month wait no longer than p50, and nine in ten no longer than p90', () => {
  const told = [1, 2, 3].flatMap(playLineMonth)
  const [half, most] = [shareWithin(told, 'p50'), shareWithin(told, 'p90')]
  expect(most.people).toBeGreaterThan(4_000)
  expect(half.share).toBeGreaterThan(0.47)
  expect(half.share).toBeLessThan(0.58)
  expect(most.share).toBeGreaterThan(0.88)
  expect(most.share).toBeLessThan(0.95)
})
