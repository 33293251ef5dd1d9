import { and, asc, eq, sql } from 'drizzle-orm'
import { readInPieces } from '../../../db/client.ts'
import { type JobRow, jobs, type RunEventRow, runEvents } from '../../../db/schema.ts'
import { listAllRuns } from '../fleet/run-list.ts'
import type { Context } from '../runtime/context.ts'

/** What grows with every run, oldest first. */
export async function collectRuns(ctx: Context, userId: string) {
  const { db } = ctx
  const [servers, happened, work] = await Promise.all([
    listAllRuns(ctx, userId),
    readInPieces<RunEventRow>((last, limit) =>
      db
        .select()
        .from(runEvents)
        .where(
          and(
            sql`session_id IN (SELECT id FROM server_sessions WHERE user_id = ${userId})`,
            last && sql`(at, id) > (${last.at}, ${last.id})`,
          ),
        )
        .orderBy(asc(runEvents.at), asc(runEvents.id))
        .limit(limit),
    ),
    readInPieces<JobRow>((last, limit) =>
      db
        .select()
        .from(jobs)
        .where(and(eq(jobs.userId, userId), last && sql`(created_at, id) > (${last.createdAt}, ${last.id})`))
        .orderBy(asc(jobs.createdAt), asc(jobs.id))
        .limit(limit),
    ),
  ])
  return { servers: servers.toReversed(), happened, work }
}
