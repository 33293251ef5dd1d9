import * as v from 'valibot'
import { rule } from './form.ts'
import { MINUTE_MS } from './instant.ts'
import { ENDING_MS } from './server.ts'

/** A simulator may report at `GET /status` for how long nobody has used it. Most don't, and never count as idle. */
export const STATUS_PATH = '/status'
/** A larger answer counts as none. */
export const STATUS_BYTES = 1_024

export const LEAST_IDLE_MINUTES = 15
export const MOST_IDLE_MINUTES = 240
/** A machine may have booted this long before we saw it run. */
const EARLIER_MS = 10 * MINUTE_MS
/** While it counts down, we ask again this often, and this long before the end. */
const IDLE_LOOK_MS = MINUTE_MS
const LAST_LOOK_MS = 15_000

/** `minutes` null: idleness never stops the server. */
export const idleForm = v.pipe(
  v.object({ minutes: v.nullable(v.union([v.number(), v.nan()])) }),
  rule(
    'minutes',
    ({ minutes: m }) => m === null || (Number.isInteger(m) && m >= LEAST_IDLE_MINUTES && m <= MOST_IDLE_MINUTES),
    `Choose from ${LEAST_IDLE_MINUTES} to ${MOST_IDLE_MINUTES} minutes.`,
  ),
)

/**
 * For how many ms nobody has used it, by its own account; null if it doesn't say so in a way that we believe.
 * @param ranMs how long its machine has run
 */
export function readIdle(body: string | null, ranMs: number): number | null {
  let said: unknown
  try {
    said = JSON.parse(body ?? '')
  } catch {
    return null
  }
  const seconds = typeof said === 'object' && said !== null && 'idle_seconds' in said ? said.idle_seconds : null
  if (typeof seconds !== 'number' || !(seconds >= 0)) return null
  return seconds * 1000 <= ranMs + EARLIER_MS ? seconds * 1000 : null
}

type Idle = {
  now: number
  /** Since when nobody has used it; null: it doesn't say. */
  since: number | null
  minutes: number
  /** The end that an earlier look set; null: none. */
  endsAt: number | null
}

/**
 * What a look decides.
 * @returns `end` to set, null to take it back, undefined to leave it; and when to look again
 */
export function idleVerdict({ now, since, minutes, endsAt }: Idle): { end?: number | null; next: number } {
  const limit = minutes * MINUTE_MS
  // If it doesn't answer, it gets the whole time again.
  const end = since === null ? now + limit + ENDING_MS : since + limit
  const warnAt = end - ENDING_MS
  // Whole seconds may be rounded.
  if (endsAt !== null && end <= endsAt + 1_000)
    return { next: Math.min(now + IDLE_LOOK_MS, Math.max(now + LAST_LOOK_MS, endsAt - LAST_LOOK_MS)) }
  if (endsAt !== null) return { end: null, next: Math.max(now + IDLE_LOOK_MS, warnAt) }
  if (warnAt > now) return { next: Math.max(now + IDLE_LOOK_MS, warnAt) }
  return { end: Math.max(end, now + ENDING_MS), next: now + IDLE_LOOK_MS }
}
