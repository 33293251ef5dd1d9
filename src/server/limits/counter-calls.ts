import type { Rate } from '../../domain/attempts.ts'

/** One counter: of guesses at one secret, or of uses of one thing. Each call is exact, however many come at once. */
export type CounterCalls = {
  /** @returns ms to wait; 0: the guess is counted and may be looked at */
  guess(now: number): Promise<number>
  /** The guess could not be looked at: it counts no more. */
  takeBack(): Promise<void>
  /** The guess was right. */
  forgive(): Promise<void>
  /** @returns ms to wait; 0: taken */
  take(rate: Rate, now: number): Promise<number>
  /** The same, never more than the rate in any such time: `take` allows up to twice as many around a full pause. */
  takeExactly(rate: Rate, now: number): Promise<number>
}
