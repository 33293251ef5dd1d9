import type { DurableObjectStorage } from '@cloudflare/workers-types'
import type { Log } from '../log.ts'

/** What survives the object: the user's id, until when it was armed, when it looked last, how many looks in a row failed, and its one alarm. */
export type AlarmStorage = {
  get(key: string): Promise<unknown>
  put(entries: Record<string, unknown>): Promise<void>
} & Pick<DurableObjectStorage, 'getAlarm' | 'setAlarm' | 'deleteAlarm'>

/** Looks at a user's jobs: `at` which moment of the product's clock, and in how many ms something is due again, null when nothing is. */
export type Look = (userId: string) => Promise<{ at: number; wait: number | null }>

/** No work that was written down waits longer than this for someone to look at it, whatever happens to the one who wrote it. */
export const FALLBACK_MS = 30_000
const RETRY_MS = 5_000
const LATEST_RETRY_MS = 30_000
/** Even a throttled look is repeated sooner: after so long the alarm cannot be relied on, or the product's clock was moved. */
const FORGOTTEN_MS = 90_000

/** When a user's jobs are looked at. Keeps no alarm while there is nothing to wait for. */
export class JobAlarm {
  /** Asked to look again while an alarm was running. Memory is enough: if the process dies, the fallback alarm stands. */
  #woken = false
  readonly #storage: AlarmStorage
  readonly #look: Look
  readonly #log: Log
  readonly #now: () => number
  readonly #random: () => number

  constructor(storage: AlarmStorage, look: Look, log: Log, { now = Date.now, random = Math.random } = {}) {
    this.#storage = storage
    this.#look = look
    this.#log = log
    this.#now = now
    this.#random = random
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

  /** The second net: looks now if the alarm was lost or nobody looked for long, and leaves one that is still to come where it is. */
  async revive(userId: string, now: number): Promise<void> {
    const alarm = await this.#storage.getAlarm()
    const lookedAt = Number((await this.#storage.get('lookedAt')) ?? 0)
    const isLost = alarm === null || alarm < this.#now() - FALLBACK_MS
    if (isLost || lookedAt < now - FORGOTTEN_MS) await this.wake(userId)
  }

  /** The fallback is set before any work, and nothing is thrown: an alarm that keeps throwing is given up for good. */
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

  /** The database is away, for thousands at once: they come back ever more rarely, and not all at the same time. */
  async #retry(): Promise<void> {
    const failures = await this.#failures()
    const backOff = Math.min(LATEST_RETRY_MS, RETRY_MS * 2 ** Math.min(failures, 5)) * (1 + this.#random() / 2)
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
