import { expect, test } from 'vitest'
import { hourLabel, shortMinutes } from '../../src/domain/line-week.ts'

const DAY = 86_400_000
const MONDAY = Date.UTC(2026, 10, 23)

test('the week begins on Monday', () => {
  const minutes = shortMinutes([{ from: MONDAY, until: MONDAY + 90 * 60_000 }], MONDAY, MONDAY + 7 * DAY)
  expect(minutes.slice(0, 3)).toEqual([60, 30, 0])
  expect([hourLabel(0), hourLabel(33), hourLabel(167)]).toEqual(['Mon 00:00', 'Tue 09:00', 'Sun 23:00'])
})

test('averages over the weeks, and counts only what was in that time', () => {
  const hour = (at: number) => ({ from: at, until: at + 3_600_000 })
  const spans = [hour(MONDAY), hour(MONDAY + 7 * DAY), hour(MONDAY - 7 * DAY)]
  expect(shortMinutes(spans, MONDAY, MONDAY + 28 * DAY)[0]).toBe(30)
  expect(shortMinutes([{ from: MONDAY, until: Infinity }], MONDAY, MONDAY + 1_800_000)[0]).toBe(30)
})

test('counts each minute once, however many waited in it', () => {
  const [first, second, inside] = [
    { from: MONDAY, until: MONDAY + 20 * 60_000 },
    { from: MONDAY + 10 * 60_000, until: MONDAY + 30 * 60_000 },
    { from: MONDAY + 5 * 60_000, until: MONDAY + 6 * 60_000 },
  ]
  expect(shortMinutes([second, first, inside], MONDAY, MONDAY + 7 * DAY)[0]).toBe(30)
})
