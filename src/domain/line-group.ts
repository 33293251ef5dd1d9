import { DAY_MS } from './instant.ts'
import { normalEmail } from './person.ts'

/** Places held back for a group for some time: a class, a competition. */

export const LONGEST_GROUP_NAME = 80
export const MOST_GROUP_PLACES = 500
export const MOST_GROUP_PEOPLE = 1_000
/** Per request, because one write tells them all. */
export const MOST_REMOVED_PEOPLE = 100
export const LONGEST_GROUP_MS = 14 * DAY_MS

/** `lack`: how many of its places its people don't have now. */
export type GroupLack = { id: string; gpus: number; lack: number; madeAt: number }

/**
 * How many free places of its size each group has now, by ID. Groups come in the order in which they were made, and a
 * free place counts for one group only.
 * @param free how many places of each size are free
 */
export function heldPlaces(groups: GroupLack[], free: ReadonlyMap<number, number>): Map<string, number> {
  const left = new Map(free)
  const inOrder = groups.toSorted((a, b) => a.madeAt - b.madeAt || (a.id < b.id ? -1 : 1))
  return new Map(
    inOrder.map(({ id, gpus, lack }) => {
      const held = Math.min(lack, left.get(gpus) ?? 0)
      left.set(gpus, (left.get(gpus) ?? 0) - held)
      return [id, held] as const
    }),
  )
}

/** Each address once, as `users` stores it. */
export function groupEmails(text: string): string[] {
  const all = text.split(/[\s,;]+/).map(normalEmail)
  return [...new Set(all.filter(Boolean))]
}
