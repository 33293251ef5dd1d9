import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as limits from '../../src/domain/start-limits.ts'
import { LONGEST_LIMIT_MS, START_LIMITS, tooLongUnanswered } from '../../src/domain/start-limits.ts'

const MINUTE = 60_000

const tooEarly = (starts: number[], now: number, exited = false) =>
  limits.tooEarly(
    starts.map((requestedAt) => ({ requestedAt, exited })),
    now,
  )

test('the eleventh start in 10 minutes waits until the first of them is 10 minutes old', () => {
  const starts = Array.from({ length: 10 }, (_, i) => i * 20_000)
  expect(tooEarly(starts.slice(1), 5 * MINUTE)).toBeNull()
  expect(tooEarly(starts, 5 * MINUTE)).toEqual({
    seconds: 300,
    sentence: 'You can start 10 servers in 10 minutes. Try again in 5m 0s.',
  })
  expect(tooEarly(starts, 10 * MINUTE - 1)?.seconds).toBe(1)
  expect(tooEarly(starts, 10 * MINUTE)).toBeNull()
})

test('the thirty-first start in an hour waits longer', () => {
  const starts = Array.from({ length: 30 }, (_, i) => i * 90_000)
  expect(tooEarly(starts, 50 * MINUTE)).toEqual({
    seconds: 600,
    sentence: 'You can start 30 servers in an hour. Try again in 10m 0s.',
  })
  expect(tooEarly(starts, 60 * MINUTE)).toBeNull()
})

test('a program that ended by itself counts toward ten minutes, and not toward the hour', () => {
  const hour = Array.from({ length: 60 }, (_, i) => i * MINUTE)
  expect(tooEarly(hour, 59.5 * MINUTE, true)?.sentence).toContain('10 servers in 10 minutes')
  const slow = Array.from({ length: 30 }, (_, i) => i * 90_000)
  expect(tooEarly(slow, 50 * MINUTE, true)).toBeNull()
})

test('starts older than the longest limit do not matter', () => {
  const starts = Array.from({ length: 60 }, (_, i) => i * 90_000)
  const now = 89 * MINUTE
  const recent = starts.filter((at) => at > now - LONGEST_LIMIT_MS)
  expect(recent.length).toBeLessThan(60)
  expect(tooEarly(recent, now)).toEqual(tooEarly(starts, now))
  expect(tooEarly(recent, now)?.sentence).toContain('30 servers in an hour')
})

test('if two limits end together, names the shorter one', () => {
  const starts = [...Array.from({ length: 20 }, (_, i) => i * MINUTE), ...Array.from({ length: 10 }, () => 50 * MINUTE)]
  expect(tooEarly(starts, 55 * MINUTE)).toEqual({
    seconds: 300,
    sentence: 'You can start 10 servers in 10 minutes. Try again in 5m 0s.',
  })
})

test('after too many unanswered hours, waits until the oldest of those starts is a day old', () => {
  expect(tooLongUnanswered(5 * MINUTE, 24 * 60 * MINUTE + 1)).toEqual({
    seconds: 300,
    sentence: 'Your servers ran for 2 hours without answering in the last 24 hours. Contact us, or try again in 5m 0s.',
  })
})

test('never exceeds the limits, whatever the pauses, and the wait is exact to the second', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 5 * MINUTE }), { minLength: 20, maxLength: 120 }), (pauses) => {
      const accepted: number[] = []
      let now = 0
      for (const pause of pauses) {
        now += pause
        const early = tooEarly(accepted, now)
        if (early) {
          expect(tooEarly(accepted, now + (early.seconds - 1) * 1000)).not.toBeNull()
          expect(tooEarly(accepted, now + early.seconds * 1000)).toBeNull()
        } else accepted.push(now)
      }
      for (const { starts, ms } of START_LIMITS)
        for (const from of accepted)
          expect(accepted.filter((at) => at >= from && at < from + ms).length).toBeLessThanOrEqual(starts)
    }),
  )
})
