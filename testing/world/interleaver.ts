import { setImmediate as afterAllCallbacks } from 'node:timers/promises'
import type { Random } from '../random.ts'

type Waiting = { go: () => Promise<unknown> }

/**
 * Runs tasks at once but their calls one at a time: each waits for its turn, the next is drawn at random, and nothing
 * else moves until it is done. This tries the ways in which tasks can interleave, and a seed repeats them.
 */
export class Interleaver {
  readonly #random: Random
  #waiting: Waiting[] = []

  constructor(random: Random) {
    this.#random = random
  }

  turn<T>(effect: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ go: () => effect().then(resolve, reject) })
    })
  }

  async run(tasks: (() => Promise<unknown>)[]): Promise<void> {
    let running = tasks.length
    const failures: unknown[] = []
    for (const task of tasks)
      void task()
        .catch((error) => failures.push(error))
        .finally(() => running--)
    while (running > 0) {
      // Tasks that can continue without a call go first.
      for (let i = 0; i < 3; i++) await afterAllCallbacks()
      const [next] = this.#waiting.splice(Math.floor(this.#random.next() * this.#waiting.length), 1)
      await next?.go()
    }
    if (failures.length) throw failures[0]
  }
}
