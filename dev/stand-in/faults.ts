import { randomUUID } from 'node:crypto'
import type { Store } from './store.ts'

/** Skips the first `after` matching calls, then hits the next `left`. */
type Kept<Fault> = Fault & { left: number; after: number }

/** Pending faults, first come, first served. Like all stand-in state, they survive a restart. */
export class Faults<Fault extends object> {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** @throws if `left` is not a positive integer */
  add(fault: Fault, left: number, after = 0): void {
    if (!Number.isInteger(left) || left < 1)
      throw new Error('A fault needs the number of calls to hit, a whole number from 1 on.')
    this.#store.put('faults', randomUUID(), { ...fault, left, after })
    this.#store.commit()
  }

  /** Uses up the first matching fault. */
  take(fits: (fault: Fault) => boolean = () => true): Fault | undefined {
    const [id, fault] = this.#store.entries<Kept<Fault>>('faults').find(([, kept]) => fits(kept)) ?? []
    if (!id || !fault) return undefined
    const { left, after } = fault
    if (after > 0) this.#store.put('faults', id, { ...fault, after: after - 1 })
    else if (left > 1) this.#store.put('faults', id, { ...fault, left: left - 1 })
    else this.#store.remove('faults', id)
    return after > 0 ? undefined : fault
  }

  /** Cancels all pending faults. */
  heal(): void {
    for (const [id] of this.#store.entries('faults')) this.#store.remove('faults', id)
    this.#store.commit()
  }
}
