import { and, asc, desc, eq, isNotNull, or, type SQL, sql } from 'drizzle-orm'
import type { BatchResponse } from 'drizzle-orm/batch'
import { jobs, runs } from '../../../db/schema.ts'
import type { Job, Server, Summary } from '../../domain/wire.ts'
import { countUsage, toSummary, usageQueries } from '../billing/bills/usage.ts'
import type { Context } from '../context.ts'
import { listRunsQuery } from './runs.ts'
import { toJob, toServer } from './wire.ts'

export type DashboardData = { servers: Server[]; jobs: Job[]; summary: Summary }

/** The reads for everything on the dashboard. */
export function dashboardQueries(ctx: Context, userId: string | SQL) {
  return [listRunsQuery(ctx, userId), currentJobsQuery(ctx, userId), ...usageQueries(ctx, userId)] as const
}

export function toDashboard(
  [servers, current, history, runRows]: BatchResponse<ReturnType<typeof dashboardQueries>>,
  now: number,
): DashboardData {
  return {
    servers: servers.map(toServer),
    jobs: current.map((row) => toJob(row.job, row.run)),
    summary: toSummary(countUsage(history, runRows, now)),
  }
}

/** The user's unfinished jobs and the latest one: what a client may have missed while away. */
export function currentJobsQuery(ctx: Context, userId: string | SQL) {
  const latest = sql`${jobs.id} = (SELECT id FROM jobs WHERE user_id = ${userId} ORDER BY created_at DESC, id DESC LIMIT 1)`
  return ctx.db
    .select({ job: jobs, run: runs })
    .from(jobs)
    .innerJoin(runs, eq(jobs.runId, runs.id))
    .where(and(eq(jobs.userId, userId), or(isNotNull(jobs.runAt), latest)))
    .orderBy(asc(jobs.createdAt), desc(jobs.kind))
}
