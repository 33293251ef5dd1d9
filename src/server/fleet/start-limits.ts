import { and, eq, gt, isNotNull, min, type SQL, sql, sum } from 'drizzle-orm'
import { jobs, runs } from '../../../db/schema/fleet.ts'
import { LONGEST_PULL_MS } from '../../domain/image-pull.ts'
import { MINUTE_MS } from '../../domain/instant.ts'
import { ANSWER_DEADLINE_MS } from '../../domain/server.ts'
import { LONGEST_LIMIT_MS, START_LIMITS, UNANSWERED_LIMIT } from '../../domain/start-limits.ts'
import type { Context } from '../runtime/context.ts'

/** It ended with its program. */
const EXITED = sql<0 | 1>`(${runs.endedBecause} IS 'exited')`

/** The starts that count against a person's limits: not those that EC2 refused for want of capacity or before it made any machine. */
function countedSince(userId: string, after: number, countsExited = true): SQL | undefined {
  return and(
    eq(runs.userId, userId),
    gt(runs.requestedAt, after),
    countsExited ? undefined : sql`NOT ${EXITED}`,
    sql`NOT EXISTS (SELECT 1 FROM ${jobs} WHERE ${jobs.runId} = ${runs.id}
      AND ${jobs.kind} = 'server_start' AND (${jobs.errorCode} = 'no_capacity' OR (${jobs.errorCode} = 'launch_refused'
        AND NOT EXISTS (SELECT 1 FROM launches WHERE session_id = ${runs.id} AND instance_id IS NOT NULL))))`,
  )
}

/**
 * Whether every limit allows one more start. Part of the statement that reserves, so that two concurrent
 * starts can't both be the last.
 */
export function isWithinLimits(userId: string, now: number): SQL {
  const each = START_LIMITS.map(
    ({ starts, ms, countsExited }) =>
      sql`(SELECT count(*) FROM ${runs} WHERE ${countedSince(userId, now - ms, countsExited)}) < ${starts}`,
  )
  const unanswered = sql`(SELECT coalesce(sum(${UNANSWERED_MS}), 0) FROM ${runs} WHERE ${ranSince(userId, now)}) < ${UNANSWERED_LIMIT.total}`
  return sql.join([...each, unanswered], sql` AND `)
}

/** When we should have given up on a machine at the latest, in ms after `running`. */
const DEADLINE_MS = sql`CASE WHEN ${runs.containerStartedAt} IS NOT NULL THEN max(0, ${runs.containerStartedAt} - ${runs.runningAt}) + ${ANSWER_DEADLINE_MS}
  WHEN ${runs.pull} IS NOT NULL THEN ${LONGEST_PULL_MS} ELSE ${ANSWER_DEADLINE_MS} END`

/**
 * The longest unbilled silence that counts: from the machine's last word, or its program's exit, until the run's end or
 * until we heard of it. By delaying its words and then going silent, a machine can't gain more than this. Anything
 * longer is our outage.
 */
const MOST_SILENT_MS = 18 * MINUTE_MS
const SILENT_UNTIL = sql`min(${runs.stopRequestedAt}, coalesce(${runs.endsAt}, ${runs.stopRequestedAt}),
  coalesce(${runs.mustStopAt}, ${runs.stopRequestedAt}))`
const SILENT_MS = sql`CASE WHEN ${runs.untilExit} AND (${runs.errorCode} IS NULL OR ${runs.errorCode} = 'silent')
  THEN max(0, coalesce(min(${SILENT_UNTIL} - ${runs.meteredUntil}, ${MOST_SILENT_MS}), 0)) ELSE 0 END`

/** Counts every ending, even a stop by the user or an answer at the last moment. If we looked late, the deadline counts. */
const UNANSWERED_MS = sql<number>`(${SILENT_MS} + max(${UNANSWERED_LIMIT.least}, min(${DEADLINE_MS}, coalesce(${runs.billedFrom}, ${runs.stopRequestedAt}, ${runs.runningAt}) - ${runs.runningAt})))`

function ranSince(userId: string, now: number): SQL | undefined {
  return and(eq(runs.userId, userId), gt(runs.requestedAt, now - UNANSWERED_LIMIT.ms), isNotNull(runs.runningAt))
}

/** How long machines ran without an answer, and since when we count. */
export function unansweredQuery(ctx: Context, userId: string, now: number) {
  return ctx.db
    .select({ ms: sum(UNANSWERED_MS).mapWith(Number), oldest: min(runs.requestedAt) })
    .from(runs)
    .where(ranSince(userId, now))
}

export function countedStartsQuery(ctx: Context, userId: string, now: number) {
  return ctx.db
    .select({ requestedAt: runs.requestedAt, exited: EXITED.mapWith(Boolean) })
    .from(runs)
    .where(countedSince(userId, now - LONGEST_LIMIT_MS))
}
