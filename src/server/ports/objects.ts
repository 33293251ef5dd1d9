import type { ScryptOptions } from 'node:crypto'
import type { Rate } from '../../domain/attempts.ts'

/** What the rest of the server may ask of a user's JobChannel object. */
export type JobChannelCalls = {
  /** Before anything is written: makes sure that the object looks at its jobs within 30 s, whatever happens to the caller. */
  arm(userId: string): Promise<void>
  /** After something was written: look at the jobs now. */
  wake(userId: string): Promise<void>
  /** From the sweep: look at the jobs now if no alarm will, or if nobody has looked for long. @param now the caller's clock */
  revive(userId: string, now: number): Promise<void>
  /** Closes the sockets of these sign-ins; of all with 'all'. */
  disconnect(signInIds: string[] | 'all'): Promise<void>
}

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

/** What there is to hash: never the password itself, and never the pepper. */
export type Derivation = { secret: Uint8Array; salt: Uint8Array; cost: Required<Pick<ScryptOptions, 'N' | 'r' | 'p'>> }

export type HasherCalls = {
  /** @returns the key; null when too many are waiting already */
  derive(work: Derivation): Promise<Uint8Array | null>
}
