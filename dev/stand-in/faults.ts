import { randomUUID } from 'node:crypto'
import type { Store } from './store.ts'

/** Hits the next `left` calls that it fits, once it has let `after` of them pass. */
type Kept<Fault> = Fault & { left: number; after: number }

/** The faults still to come, first come first served. They survive a restart, like everything else of a stand-in. */
export class Faults<Fault extends object> {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** @throws a sentence for what is not a number of calls */
  add(fault: Fault, left: number, after = 0): void {
    if (!Number.isInteger(left) || left < 1)
      throw new Error('A fault needs the number of calls to hit, a whole number from 1 on.')
    this.#store.put('faults', randomUUID(), { ...fault, left, after })
    this.#store.commit()
  }

  /** Uses up the first fault that fits the call. */
  take(fits: (fault: Fault) => boolean = () => true): Fault | undefined {
    const [id, fault] = this.#store.entries<Kept<Fault>>('faults').find(([, kept]) => fits(kept)) ?? []
    if (!id || !fault) return undefined
    const { left, after } = fault
    if (after > 0) this.#store.put('faults', id, { ...fault, after: after - 1 })
    else if (left > 1) this.#store.put('faults', id, { ...fault, left: left - 1 })
    else this.#store.remove('faults', id)
    return after > 0 ? undefined : fault
  }

  /** Takes back what has not happened yet. */
  heal(): void {
    for (const [id] of this.#store.entries('faults')) this.#store.remove('faults', id)
    this.#store.commit()
  }
}
