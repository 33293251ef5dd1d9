import { expect, test } from 'vitest'
import { type Incident, lostMs, percentUp, SILENT_MS, statusDays } from '../../src/domain/status.ts'

const DAY = 86_400_000
const MINUTE = 60_000
const now = Date.UTC(2026, 10, 20, 12)
const today = Date.UTC(2026, 10, 20)
const from = (startedAt: number, endedAt: number | null, kind: Incident['kind'] = 'full') => ({
  kind,
  startedAt,
  endedAt,
})

test('counts 90 days up to today, and none before the first check', () => {
  const days = statusDays([], today - 2 * DAY + 1, now)
  expect(days).toHaveLength(90)
  expect(days.slice(-4)).toEqual([
    { day: '2026-11-17', minutes: null },
    { day: '2026-11-18', minutes: 0 },
    { day: '2026-11-19', minutes: 0 },
    { day: '2026-11-20', minutes: 0 },
  ])
  expect(days[0]?.day).toBe('2026-08-23')
})

test('an incident across midnight counts on both days, and an open one until now', () => {
  const days = statusDays([from(today - 2 * MINUTE, today + 1), from(now - 3 * MINUTE, null)], 0, now)
  expect(days.slice(-3).map(({ minutes }) => minutes)).toEqual([0, 2, 4])
})

test('overlapping incidents count once', () => {
  const incidents = [from(10, 40), from(20, 30, 'failing'), from(35, 50, 'down'), from(60, null)]
  expect(lostMs(incidents, 0, 100, 70)).toBe(50)
  expect(lostMs(incidents, 25, 45, 70)).toBe(20)
  expect(lostMs(incidents, 50, 60, 70)).toBe(0)
})

test('100 percent means never', () => {
  expect([percentUp(0, 100), percentUp(0, 0), percentUp(1, 0)]).toEqual(['100', '100', '100'])
  expect(percentUp(1, 1_000_000)).toBe('99.99')
  expect(percentUp(100, 100)).toBe('0.00')
})

test('a day that ended just as the checks began does not count', () => {
  expect(
    statusDays([], today, now)
      .slice(-2)
      .map(({ minutes }) => minutes),
  ).toEqual([null, 0])
})

test('incidents in any order, and outside the time asked about, are counted right', () => {
  expect(lostMs([from(60, 70), from(10, 40), from(35, 50), from(90, 95)], 0, 80, 100)).toBe(50)
  expect(lostMs([from(0, 10), from(50, 60)], 20, 40, 100)).toBe(0)
})

test('silence of 5 minutes is an incident', () => {
  expect(SILENT_MS).toBe(300_000)
})
