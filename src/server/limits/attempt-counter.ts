import { DurableObject } from 'cloudflare:workers'
import {
  countGuess,
  FORGOTTEN_AFTER_MS,
  type Guesses,
  leftOf,
  type Rate,
  takeBackGuess,
  takeExactlyFrom,
  takeFrom,
} from '../../domain/attempts.ts'
import type { CounterCalls, Spent } from '../ports/objects.ts'
import type { Env } from '../settings/env.ts'

/**
 * One object per thing we count. It runs one call at a time, so that two guesses never share a number, and
 * empties itself once the count has expired.
 */
export class AttemptCounter extends DurableObject<Env> implements CounterCalls {
  async guess(now: number): Promise<number> {
    const { guesses, waitMs } = countGuess((await this.ctx.storage.get<Guesses>('guesses')) ?? null, now)
    if (waitMs === 0) await this.keep('guesses', guesses, FORGOTTEN_AFTER_MS)
    return waitMs
  }

  async takeBack(): Promise<void> {
    const guesses = await this.ctx.storage.get<Guesses>('guesses')
    if (guesses) await this.keep('guesses', takeBackGuess(guesses), FORGOTTEN_AFTER_MS)
  }

  async forgive(): Promise<void> {
    await this.ctx.storage.deleteAll()
  }

  async take(rate: Rate, now: number): Promise<number> {
    const { paidOffAt, waitMs } = takeFrom((await this.ctx.storage.get<number>('paidOffAt')) ?? null, rate, now)
    if (waitMs === 0) await this.keep('paidOffAt', paidOffAt, rate.perMs)
    return waitMs
  }

  async spend(rate: Rate, now: number): Promise<Spent> {
    const { paidOffAt, waitMs } = takeFrom((await this.ctx.storage.get<number>('paidOffAt')) ?? null, rate, now)
    if (waitMs === 0) await this.keep('paidOffAt', paidOffAt, rate.perMs)
    return { waitMs, ...leftOf(paidOffAt, rate, now) }
  }

  async takeExactly(rate: Rate, now: number): Promise<number> {
    const { taken, waitMs } = takeExactlyFrom((await this.ctx.storage.get<number[]>('taken')) ?? [], rate, now)
    if (waitMs === 0) await this.keep('taken', taken, rate.perMs)
    return waitMs
  }

  override async alarm(): Promise<void> {
    await this.ctx.storage.deleteAll()
  }

  private async keep(key: string, value: unknown, forMs: number): Promise<void> {
    await this.ctx.storage.put(key, value)
    await this.ctx.storage.setAlarm(Date.now() + forMs)
  }
}
