import { type SQL, sql } from 'drizzle-orm'
import type { RunRow } from '../../../../db/schema/fleet.ts'
import { TRIAL_WARN_MS } from '../../../domain/ending.ts'
import { ENDING_MS } from '../../../domain/server.ts'

const NEVER = Number.MAX_SAFE_INTEGER
/** A run ends at the earlier of its two ends. */
export const END = sql`min(coalesce(must_stop_at, ${NEVER}), coalesce(ends_at, ${NEVER}))`
/** Whether that is the one that its user set. */
const IS_OWN = sql`coalesce(ends_at, ${NEVER}) < coalesce(must_stop_at, ${NEVER})`
const WARN_AT = sql`(${END} - CASE WHEN ${IS_OWN} THEN ${ENDING_MS} ELSE ${TRIAL_WARN_MS} END)`
/** For runs from before we kept the end that we warned of, the time of the warning decides. */
export const IS_UNWARNED = sql`CASE WHEN warned_end IS NULL THEN coalesce(trial_warned_at, 0) < ${WARN_AT} ELSE warned_end <> ${END} END`

/** A condition on live rows of `server_sessions`: one of their ends has come. */
export function isPastEnd(now: number): SQL {
  return sql`${END} <= ${now}`
}

/** A condition on live rows of `server_sessions`: it's time to end them, or to warn that they will end. */
export function isEndDue(now: number): SQL {
  const since = sql`CASE WHEN ${IS_OWN} THEN coalesce(ends_set_at, requested_at) ELSE billed_from END`
  return sql`(${isPastEnd(now)} OR (${WARN_AT} <= ${now} AND ${WARN_AT} > ${since} AND ${IS_UNWARNED}))`
}

export function endOf({ mustStopAt, endsAt }: RunRow): { end: number; isOwn: boolean } {
  const [trial, own] = [mustStopAt ?? Infinity, endsAt ?? Infinity]
  return { end: Math.min(trial, own), isOwn: own < trial }
}

/**
 * Why a row of `server_sessions` ends if nothing failed: one of its ends has come, or else its user stopped it.
 * @param until the last moment that may be billed
 */
export function endReasonAt(now: number, until: number): SQL {
  return sql`CASE WHEN must_stop_at <= min(${until}, coalesce(ends_at, ${until})) THEN 'trial_over'
    WHEN coalesce(ends_at, ${NEVER}) > ${now} THEN 'you' WHEN plan_ends THEN 'plan' WHEN budget_cents IS NOT NULL THEN 'budget'
    WHEN idle_ends THEN 'idle' ELSE 'time_up' END`
}

/** One warning per end: a moved end is a new one, and a plan that lifts the trial's end leaves a later one. */
export function warningTime(run: RunRow): number {
  const { end, isOwn } = endOf(run)
  const since = isOwn ? (run.endsSetAt ?? run.requestedAt) : run.billedFrom
  const warnAt = end - (isOwn ? ENDING_MS : TRIAL_WARN_MS)
  const isWarned = run.warnedEnd === null ? (run.trialWarnedAt ?? 0) >= warnAt : run.warnedEnd === end
  return since !== null && warnAt > since && !isWarned ? warnAt : Infinity
}

/** The cause of the notice that a run ended, so that there is only one, whatever ends it. */
export const endedCause = (runId: string) => `ended:${runId}`

/** We have no address left for a closed account. */
export function isOpenAccount({ userId }: RunRow): SQL {
  return sql`EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND closed_at IS NULL)`
}
