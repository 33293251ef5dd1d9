import { scrypt } from 'node:crypto'
import type { Derivation, HasherCalls } from '../../ports/objects.ts'

const KEY_BYTES = 32
/** The one that runs and those that wait: a hash takes up to 0.3 s, so nobody waits much longer than a second. */
const MOST_AT_ONCE = 6

/** In Node off the thread that answers; in workerd the thread does nothing else until it is done. */
export function deriveKey({ secret, salt, cost }: Derivation): Promise<Uint8Array> {
  return new Promise((resolve, reject) =>
    // A copy: a Buffer is a view of memory that holds other things.
    scrypt(secret, salt, KEY_BYTES, cost, (error, key) => (error ? reject(error) : resolve(new Uint8Array(key)))),
  )
}

/** One hash after the other, in the order in which they came. */
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

/** Between two hashes the thread takes in what has arrived, so that one too many hears it at once. */
function untilTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
