import { type SQL, sql } from 'drizzle-orm'

/** A refusal of one zone or subnet keeps its place from being handed out for this long. */
export const SET_ASIDE_MS = 10 * 60_000

/**
 * Whether a row of `servers` may be handed out: not retired, and not set aside because its zone or subnet refused a launch. Whether it is
 * reserved is another question.
 */
export function isOfferedAt(now: number): SQL {
  return sql`(retired_at IS NULL AND set_aside_until <= ${now})`
}
