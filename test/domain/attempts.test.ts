import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  countGuess,
  delayAfter,
  FREE_GUESSES,
  type Guesses,
  leftOf,
  takeBackGuess,
  takeExactlyFrom,
  takeFrom,
} from '../../src/domain/attempts.ts'

const START = 1_800_000_000_000
const steps = (max: number) => fc.array(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 200 })

test('a rate: at most twice the count in any window, and accepts again after the wait it states', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 20, max: 5_000 }),
      steps(400),
      (count, perMs, gaps) => {
        const taken: number[] = []
        let [paidOffAt, now] = [null as number | null, START]
        for (const gap of gaps) {
          now += gap
          const next = takeFrom(paidOffAt, { count, perMs }, now)
          paidOffAt = next.paidOffAt
          if (next.waitMs === 0) taken.push(now)
          else expect(takeFrom(paidOffAt, { count, perMs }, now + next.waitMs).waitMs).toBe(0)
        }
        // A full burst, plus what is paid off during the window: at most twice the count.
        for (const from of taken)
          expect(taken.filter((t) => t >= from && t < from + perMs).length).toBeLessThanOrEqual(2 * count)
        const first = taken.slice(0, count)
        expect(taken.filter((t) => t === START + (gaps[0] ?? 0)).length).toBeLessThanOrEqual(count)
        expect(first.length).toBeGreaterThan(0)
      },
    ),
  )
})

test('a burst of exactly the count passes, one more does not', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 100, max: 10_000_000 }), (count, perMs) => {
      let paidOffAt: number | null = null
      for (let i = 0; i < count; i++) {
        const next = takeFrom(paidOffAt, { count, perMs }, START)
        expect(next.waitMs).toBe(0)
        paidOffAt = next.paidOffAt
      }
      expect(takeFrom(paidOffAt, { count, perMs }, START).waitMs).toBeGreaterThan(0)
    }),
  )
})

test('guesses: the first are free, then the waits grow, and a refused guess does not count', () => {
  fc.assert(
    fc.property(steps(7_200_000), (gaps) => {
      let guesses: Guesses | null = null
      let now = START
      for (const gap of gaps) {
        now += gap
        const before: Guesses | null = guesses
        const next = countGuess(guesses, now)
        guesses = next.guesses
        if (next.waitMs > 0) expect(next.guesses).toEqual(before)
        else expect(next.guesses.blockedUntil).toBe(now + delayAfter(next.guesses.failures))
      }
    }),
  )
  expect(delayAfter(FREE_GUESSES - 1)).toBe(0)
  expect([5, 6, 7, 20, 5_000].map(delayAfter)).toEqual([5_000, 10_000, 20_000, 3_600_000, 3_600_000])
})

test('a refused guess learns how long to wait, and then one more is checked', () => {
  const blocked = { failures: 6, lastAt: START, blockedUntil: START + 10_000 }
  expect(countGuess(blocked, START + 1)).toEqual({ guesses: blocked, waitMs: 9_999 })
  expect(countGuess(blocked, START + 9_999).waitMs).toBe(1)
  expect(countGuess(blocked, START + 10_000)).toEqual({
    guesses: { failures: 7, lastAt: START + 10_000, blockedUntil: START + 30_000 },
    waitMs: 0,
  })
})

test('the count starts over after a day without a guess', () => {
  const many = { failures: 9, lastAt: START, blockedUntil: START + 80_000 }
  const at = START + 86_400_000
  expect(countGuess(many, at - 1).guesses.failures).toBe(10)
  expect(countGuess(many, at).guesses).toEqual({ failures: 1, lastAt: at, blockedUntil: at })
  // Even if the block would have lasted longer.
  expect(countGuess({ ...many, blockedUntil: at + 1 }, at)).toMatchObject({ guesses: { failures: 1 }, waitMs: 0 })
})

test('guessing nonstop gets about thirty guesses a day', () => {
  let guesses: Guesses | null = null
  let looked = 0
  for (let now = START; now < START + 24 * 3_600_000; now += 1_000) {
    const next = countGuess(guesses, now)
    guesses = next.guesses
    if (next.waitMs === 0) looked++
  }
  expect(looked).toBeLessThan(45)
})

test('says how many more calls fit right now', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), steps(20_000), (count, gaps) => {
      const rate = { count, perMs: 60_000 }
      let paidOffAt: number | null = null
      let now = START
      for (const gap of gaps) {
        now += gap
        paidOffAt = takeFrom(paidOffAt, rate, now).paidOffAt
        const { left } = leftOf(paidOffAt, rate, now)
        let more = 0
        for (let next = takeFrom(paidOffAt, rate, now); next.waitMs === 0; next = takeFrom(next.paidOffAt, rate, now))
          more++
        expect(left).toBe(more)
      }
    }),
    { numRuns: 50 },
  )
})

test('a rate says when all of it is available again', () => {
  const rate = { count: 300, perMs: 60_000 }
  const once = takeFrom(null, rate, START)
  expect(leftOf(once.paidOffAt, rate, START)).toEqual({ left: 299, fullInMs: 200 })
  const twice = takeFrom(once.paidOffAt, rate, START + 50)
  expect(leftOf(twice.paidOffAt, rate, START + 50)).toEqual({ left: 298, fullInMs: 350 })
})

const SIX_AN_HOUR = { count: 6, perMs: 3_600_000 }

test('an exact rate: never more than the count in any window, and the stated wait is exact', () => {
  const { count, perMs } = SIX_AN_HOUR
  fc.assert(
    // Gaps so short that most calls come too early.
    fc.property(steps(perMs / 4), (gaps) => {
      let taken: number[] = []
      let all: number[] = []
      let now = START
      for (const gap of gaps) {
        now += gap
        const within = all.filter((at) => at > now - perMs)
        const [first = 0] = within
        const next = takeExactlyFrom(taken, SIX_AN_HOUR, now)
        expect(next.waitMs).toBe(within.length < count ? 0 : first + perMs - now)
        if (next.waitMs === 0) all = [...all, now]
        taken = next.taken
        expect(taken.length).toBeLessThanOrEqual(count)
      }
    }),
  )
})

test('an exact rate: six at once, and the next one exactly when the hour is over', () => {
  const six = Array.from({ length: 6 }, () => START)
  expect(takeExactlyFrom(six.slice(1), SIX_AN_HOUR, START)).toEqual({ taken: six, waitMs: 0 })
  expect(takeExactlyFrom(six, SIX_AN_HOUR, START)).toEqual({ taken: six, waitMs: 3_600_000 })
  const over = START + 3_600_000
  expect(takeExactlyFrom(six, SIX_AN_HOUR, over - 1)).toEqual({ taken: six, waitMs: 1 })
  expect(takeExactlyFrom(six, SIX_AN_HOUR, over)).toEqual({ taken: [over], waitMs: 0 })
})

test('taking back a guess keeps the cost of the ones before it', () => {
  let guesses: Guesses | null = null
  let now = START
  for (let i = 0; i < FREE_GUESSES + 2; i++) {
    const { waitMs } = countGuess(guesses, now)
    now += waitMs
    guesses = countGuess(guesses, now).guesses
  }
  const back = takeBackGuess(guesses as Guesses)
  expect(back).toEqual({ failures: FREE_GUESSES + 1, lastAt: now, blockedUntil: now + delayAfter(FREE_GUESSES + 1) })
  const none = { failures: 0, lastAt: now, blockedUntil: now }
  expect(takeBackGuess({ failures: 1, lastAt: now, blockedUntil: now })).toEqual(none)
  expect(takeBackGuess(none)).toEqual(none)
})
