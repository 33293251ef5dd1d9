import type { Store } from '../../dev/stand-in/store.ts'

/** How many calls the injected faults will still hit. It falls when one does. */
export function pendingHits(store: Store): number {
  return store.all<{ left: number; after: number }>('faults').reduce((sum, { left, after }) => sum + left + after, 0)
}
