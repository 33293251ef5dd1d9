import { scrypt } from 'node:crypto'
import type { Derivation, HasherCalls } from '../../ports/objects.ts'

const KEY_BYTES = 32
/** One runs, the others wait. A hash takes up to 0.3 s, so nobody waits much longer than a second. */
const MOST_AT_ONCE = 6

/** Node hashes on another thread; workerd blocks this one until it is done. */
export function deriveKey({ secret, salt, cost }: Derivation): Promise<Uint8Array> {
  return new Promise((resolve, reject) =>
    // Copy it: a Buffer is a view of memory that it may share.
    scrypt(secret, salt, KEY_BYTES, cost, (error, key) => (error ? reject(error) : resolve(new Uint8Array(key)))),
  )
}

/** Runs one hash at a time, in order of arrival. */
export class HashQueue implements HasherCalls {
  #atOnce = 0
  #last: Promise<unknown> = Promise.resolve()
  readonly #work: (work: Derivation) => Promise<Uint8Array>

  constructor(work = deriveKey) {
    this.#work = work
  }

  async derive(work: Derivation): Promise<Uint8Array | null> {
    if (this.#atOnce >= MOST_AT_ONCE) return null
    this.#atOnce++
    const mine = this.#last.then(untilTurn).then(() => this.#work(work))
    this.#last = mine.catch(() => {})
    try {
      return await mine
    } finally {
      this.#atOnce--
    }
  }
}

/** Yields between hashes so we can reject excess requests right away. */
function untilTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
