import { and, asc, desc, eq, isNotNull, or, type SQL, sql } from 'drizzle-orm'
import type { BatchResponse } from 'drizzle-orm/batch'
import { jobs, type PlanRow, type RunRow, runs } from '../../../db/schema.ts'
import { gpusOfType, restartGives } from '../../domain/machine.ts'
import { gpusOf } from '../../domain/money/plan.ts'
import type { Job, Machine, Server, Summary } from '../../domain/wire.ts'
import { countUsage, toSummary, usageQueries } from '../billing/bills/usage.ts'
import type { Context } from '../context.ts'
import { machineQueries, toMachines } from './availability.ts'
import { listRunsQuery } from './runs.ts'
import { toJob, toServer } from './wire.ts'

export type DashboardData = {
  servers: Server[]
  jobs: Job[]
  summary: Summary
  machines: Machine[]
  /** What a restart would get, if the user's plan has become larger since the live run started. */
  restart: { run: string; gives: string } | null
}

/** The reads for everything on the dashboard. */
export function dashboardQueries(ctx: Context, userId: string | SQL) {
  return [
    listRunsQuery(ctx, userId),
    currentJobsQuery(ctx, userId),
    ...machineQueries(ctx),
    ...usageQueries(ctx, userId),
  ] as const
}

export function toDashboard(
  [servers, current, ...rest]: BatchResponse<ReturnType<typeof dashboardQueries>>,
  now: number,
): DashboardData {
  const [any, four, one, history, runRows] = rest
  const usage = countUsage(history, runRows, now)
  return {
    servers: servers.map(toServer),
    jobs: current.map((row) => toJob(row.job, row.run)),
    summary: toSummary(usage),
    machines: toMachines([any, four, one], gpusOf(usage.plan)),
    restart: restartOf(
      servers.find(({ endedAt }) => endedAt === null),
      usage.plan,
    ),
  }
}

function restartOf(run: RunRow | undefined, plan: PlanRow | null): DashboardData['restart'] {
  if (!run || !plan) return null
  const since = Math.max(plan.anchor, plan.upgradedAt ?? 0)
  const [has, may] = [gpusOfType(run.instanceType), gpusOf(plan)]
  return since > run.requestedAt && has !== null && may > has ? { run: run.id, gives: restartGives(may) } : null
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
