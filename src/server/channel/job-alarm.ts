import type { DurableObjectStorage } from '@cloudflare/workers-types'
import type { Log } from '../settings/log.ts'

/**
 * What outlives the object: whose alarm it is, how long it is armed, its last look, how many looks in a row
 * failed, and its one alarm.
 */
export type AlarmStorage = {
  get(key: string): Promise<unknown>
  put(entries: Record<string, unknown>): Promise<void>
} & Pick<DurableObjectStorage, 'getAlarm' | 'setAlarm' | 'deleteAlarm'>

/**
 * Looks at a user's jobs. `at` is the time of the look by the product's clock, `wait` the ms until the next
 * job is due, or null if none is.
 */
export type Look = (userId: string) => Promise<{ at: number; wait: number | null }>

/** Work that is written down waits at most this long for a look, even if its writer dies. */
export const FALLBACK_MS = 30_000
const RETRY_MS = { first: 5_000, latest: 30_000 }
/** Longer than any back-off: by then the alarm is lost or the product's clock was moved. */
const FORGOTTEN_MS = 90_000

/** Decides when to look at a user's jobs, or at the fleet. Sets no alarm while nothing is due. */
export class JobAlarm {
  /**
   * Someone called `wake` while the alarm ran. Memory is enough: if the process dies, the fallback alarm
   * remains.
   */
  #woken = false
  readonly #storage: AlarmStorage
  readonly #look: Look
  readonly #log: Log
  readonly #now: () => number
  readonly #random: () => number
  readonly #retryMs: { first: number; latest: number }

  /** @param options.retryMs how long to wait after a failed look: twice as long after each, up to the latest */
  constructor(
    storage: AlarmStorage,
    look: Look,
    log: Log,
    { now = Date.now, random = Math.random, retryMs = RETRY_MS } = {},
  ) {
    this.#storage = storage
    this.#look = look
    this.#log = log
    this.#now = now
    this.#random = random
    this.#retryMs = retryMs
  }

  async arm(userId: string): Promise<void> {
    const until = this.#now() + FALLBACK_MS
    await this.#storage.put({ userId, armedUntil: until })
    const alarm = await this.#storage.getAlarm()
    if (alarm === null || alarm > until) await this.#storage.setAlarm(until)
  }

  async wake(userId: string): Promise<void> {
    this.#woken = true
    await this.#storage.put({ userId })
    await this.#storage.setAlarm(this.#now())
  }

  /**
   * The second safety net: looks now if the alarm was lost or the last look is long ago. Leaves a pending
   * alarm alone.
   */
  async revive(userId: string, now: number): Promise<void> {
    const alarm = await this.#storage.getAlarm()
    const lookedAt = Number((await this.#storage.get('lookedAt')) ?? 0)
    const isLost = alarm === null || alarm < this.#now() - FALLBACK_MS
    if (isLost || lookedAt < now - FORGOTTEN_MS) await this.wake(userId)
  }

  /** Sets the fallback before any work and never throws: the platform gives up on an alarm that keeps throwing. */
  async ring(): Promise<void> {
    await this.#storage.setAlarm(this.#now() + FALLBACK_MS)
    const userId = await this.#storage.get('userId')
    if (typeof userId !== 'string') return this.#storage.deleteAlarm()
    this.#woken = false
    try {
      const { at, wait } = await this.#look(userId)
      await this.#setNext(wait === null ? null : this.#now() + Math.max(0, wait))
      await this.#storage.put({ failures: 0, lookedAt: at })
    } catch (error) {
      this.#log('alarm_failed', { userId }, error)
      await this.#retry()
    }
  }

  /** An outage hits thousands of users at once, so retries back off, with jitter. */
  async #retry(): Promise<void> {
    const failures = await this.#failures()
    const { first, latest } = this.#retryMs
    const backOff = Math.min(latest, first * 2 ** Math.min(failures, 5)) * (1 + this.#random() / 2)
    await this.#storage.setAlarm(this.#now() + (this.#woken ? 0 : Math.round(backOff)))
    await this.#storage.put({ failures: failures + 1 })
  }

  async #failures(): Promise<number> {
    return Number((await this.#storage.get('failures')) ?? 0)
  }

  async #setNext(due: number | null): Promise<void> {
    if (this.#woken) return this.#storage.setAlarm(this.#now())
    const armedUntil = Number((await this.#storage.get('armedUntil')) ?? 0)
    const times = [due, armedUntil > this.#now() ? armedUntil : null].filter((time) => time !== null)
    if (times.length) await this.#storage.setAlarm(Math.min(...times))
    else await this.#storage.deleteAlarm()
  }
}
