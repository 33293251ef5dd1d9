import {
  countGuess,
  type Guesses,
  leftOf,
  takeBackGuess,
  takeExactlyFrom,
  takeFrom,
} from '../../src/domain/attempts.ts'
import type { CounterCalls } from '../../src/server/ports/objects.ts'

/**
 * The counters' rules without their objects, for tests of what is counted. The objects themselves are tested in
 * workerd.
 */
export function memoryCounters(): (name: string) => CounterCalls {
  const guesses = new Map<string, Guesses>()
  const taken = new Map<string, number>()
  const moments = new Map<string, number[]>()
  return (name) => ({
    async guess(now) {
      const next = countGuess(guesses.get(name) ?? null, now)
      guesses.set(name, next.guesses)
      return next.waitMs
    },
    async takeBack() {
      const known = guesses.get(name)
      if (known) guesses.set(name, takeBackGuess(known))
    },
    async forgive() {
      guesses.delete(name)
    },
    async take(rate, now) {
      const next = takeFrom(taken.get(name) ?? null, rate, now)
      taken.set(name, next.paidOffAt)
      return next.waitMs
    },
    async spend(rate, now) {
      const { paidOffAt, waitMs } = takeFrom(taken.get(name) ?? null, rate, now)
      taken.set(name, paidOffAt)
      return { waitMs, ...leftOf(paidOffAt, rate, now) }
    },
    async takeExactly(rate, now) {
      const next = takeExactlyFrom(moments.get(name) ?? [], rate, now)
      moments.set(name, next.taken)
      return next.waitMs
    },
  })
}
