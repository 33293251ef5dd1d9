import { and, eq, gt, type SQL, sql } from 'drizzle-orm'
import { jobs, runs } from '../../../db/schema.ts'
import { LONGEST_LIMIT_MS, START_LIMITS } from '../../domain/start-limits.ts'
import type { Context } from '../context.ts'

/** The starts that count against a person's limits. A start that found no capacity doesn't. */
function countedSince(userId: string, after: number): SQL | undefined {
  return and(
    eq(runs.userId, userId),
    gt(runs.requestedAt, after),
    sql`NOT EXISTS (SELECT 1 FROM ${jobs} WHERE ${jobs.runId} = ${runs.id}
      AND ${jobs.kind} = 'server_start' AND ${jobs.errorCode} = 'no_capacity')`,
  )
}

/**
 * Whether every limit allows one more start. Part of the statement that reserves, so that two concurrent
 * starts can't both be the last.
 */
export function isWithinLimits(userId: string, now: number): SQL {
  const each = START_LIMITS.map(
    ({ starts, ms }) => sql`(SELECT count(*) FROM ${runs} WHERE ${countedSince(userId, now - ms)}) < ${starts}`,
  )
  return sql.join(each, sql` AND `)
}

export function countedStartsQuery(ctx: Context, userId: string, now: number) {
  return ctx.db
    .select({ requestedAt: runs.requestedAt })
    .from(runs)
    .where(countedSince(userId, now - LONGEST_LIMIT_MS))
}
