import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Random } from '../../testing/random.ts'

type Waiting = { label: string; go: () => Promise<void> }

/** How often we let the event loop turn before we call a world stuck. */
const PATIENCE = 10_000
/** From this turn on, each takes 10 ms: a module that is imported on demand may take seconds on a busy machine. */
const SLOWLY_FROM = 1_000
/** Between two calls, the product only continues promises. This many steps are enough, and take a few microseconds. */
const STEPS = 40

/**
 * Every call that leaves the program waits here for its turn. The seed decides whose turn it is, and nothing else moves
 * until that call is answered, so the same seed gives the same order.
 */
export class Turns {
  #waiting: Waiting[] = []
  #working = 0

  /** The call begins at its turn. */
  take<T>(label: string, effect: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ label, go: () => effect().then(resolve, reject) })
    })
  }

  /** Plays until all of this work, and its background work, is done. */
  async play(random: Random, work: (() => Promise<unknown>)[]): Promise<void> {
    for (const start of work) this.#track(start())
    for (let idle = 0; idle < PATIENCE; ) {
      for (let step = 0; step < STEPS; step++) await null
      if (this.#waiting.length === 0) await (idle < SLOWLY_FROM ? setImmediate() : setTimeout(10))
      if (this.#waiting.length > 0) {
        const [next] = this.#waiting.splice(random.between(0, this.#waiting.length), 1)
        await next?.go()
        idle = 0
      } else if (this.#working === 0) return
      else idle += 1
    }
    throw new Error('The world is stuck: something waits forever.')
  }

  /** Work that nobody awaits. */
  background(work: Promise<unknown>): void {
    this.#track(work)
  }

  #track(work: Promise<unknown>): void {
    this.#working += 1
    work
      .catch(() => {})
      .finally(() => {
        this.#working -= 1
      })
  }
}
