import { DAY_MS } from './instant.ts'

/** How long someone will probably wait, in line or for a start, from how long others waited. */

/** A wait that has ended. `served`: they got what they waited for. Otherwise, they left or it failed, and it would have taken longer. */
export type Wait = { waitedMs: number; served: boolean }
export type LineWait = Wait & { position: number }
/** In whole seconds. Half of the people wait no longer than `p50`, nine in ten no longer than `p90`. */
export type Estimate = { p50: number; p90: number }

/** Only waits of the last days count: the fleet, its images, and its customers change. */
export const ESTIMATE_MS = 30 * DAY_MS
/** With fewer, we don't know yet. */
export const FEWEST_WAITS = 20

/** People who join at these positions wait about equally long. */
const STEPS = [1, 2, 3, 5, 8, 12, 20, 35, 60, 100]

/** The positions that count as near this one; the last group has no end. */
export function positionsLike(position: number): { from: number; to: number } {
  const i = STEPS.findLastIndex((step) => step <= position)
  return { from: STEPS[i] ?? 1, to: (STEPS[i + 1] ?? Number.MAX_SAFE_INTEGER) - 1 }
}

/** From the waits in line of people of the same size and class. */
export function estimateInLine(waits: LineWait[], position: number): Estimate | null {
  const { from, to } = positionsLike(position)
  return estimateWait(waits.filter((wait) => wait.position >= from && wait.position <= to))
}

/**
 * From waits of one kind. Null: we don't know yet. People who left count as long as they waited (Kaplan and Meier):
 * without them, the impatient would make it look fast.
 */
export function estimateWait(waits: Wait[]): Estimate | null {
  if (waits.filter(({ served }) => served).length < FEWEST_WAITS) return null
  const [p50, p90] = [0.5, 0.9].map((share) => waitOfShare(waits, share))
  return p50 == null || p90 == null ? null : { p50, p90 }
}

/**
 * After how many seconds that share had a place. From few waits we take a later one, so that the next person stays
 * within it as often as we say. Null if too many left before.
 */
function waitOfShare(waits: Wait[], share: number): number | null {
  const sorted = waits.toSorted((a, b) => a.waitedMs - b.waitedMs || Number(b.served) - Number(a.served))
  const known = sorted.filter(({ served }) => served).length
  const enough = Math.min(1, (share * (known + 1)) / known)
  let stillWaiting = 1
  for (const [i, { waitedMs, served }] of sorted.entries()) {
    if (served) stillWaiting *= 1 - 1 / (sorted.length - i)
    if (1 - stillWaiting >= enough - 1e-9) return Math.ceil(waitedMs / 1000)
  }
  return null
}
