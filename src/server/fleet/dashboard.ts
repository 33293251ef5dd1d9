import { and, asc, desc, eq, isNotNull, or, type SQL, sql } from 'drizzle-orm'
import type { BatchResponse } from 'drizzle-orm/batch'
import type { PlanRow } from '../../../db/schema/billing.ts'
import { jobs, type RunRow, runs, secrets } from '../../../db/schema/fleet.ts'
import { toIso } from '../../domain/instant.ts'
import { gpusOfType, restartGives } from '../../domain/machine.ts'
import { gpusOf, planOf } from '../../domain/money/plan.ts'
import type { DashboardView } from '../../domain/views.ts'
import { countUsage, toSummary, usageQueries } from '../billing/bills/usage.ts'
import { type Context, serversKeepFiles } from '../runtime/context.ts'
import { machineQueries, toMachines } from './availability.ts'
import { guestsQuery } from './guests.ts'
import { lineQuery, toLinePlace } from './line/show.ts'
import { runsQuery } from './run-list.ts'
import { IS_VALUE } from './secrets.ts'
import { startTimesQuery, toStartTimes } from './start-times.ts'
import { stopAfterQuery, toStopAfter } from './stop-after.ts'
import { toJob, toServer } from './wire.ts'
import { catalogQuery, toWorlds } from './worlds.ts'

/** The reads for everything on the dashboard. */
export function dashboardQueries(ctx: Context, userId: string | SQL) {
  return [
    runsQuery(ctx, userId),
    currentJobsQuery(ctx, userId),
    catalogQuery(ctx, userId),
    guestsQuery(ctx, userId),
    lineQuery(ctx, userId),
    stopAfterQuery(ctx, userId),
    secretNamesQuery(ctx, userId),
    startTimesQuery(ctx, userId),
    ...machineQueries(ctx, userId),
    ...usageQueries(ctx, userId),
  ] as const
}

export function toDashboard(
  [servers, current, catalog, guests, waits, choices, names, times, ...rest]: BatchResponse<
    ReturnType<typeof dashboardQueries>
  >,
  { now: clock, config }: Pick<Context, 'now' | 'config'>,
): DashboardView {
  const now = clock()
  const [any, four, one, history, runRows] = rest
  const usage = countUsage(history, runRows, now)
  const live = servers.find(({ endedAt }) => endedAt === null)
  return {
    servers: servers.map((row) => toServer(row, config)),
    jobs: current.map((row) => toJob(row.job, row.run, config)),
    summary: toSummary(usage),
    line: config.line ? toLinePlace(waits[0]) : null,
    mayWait: config.line,
    guests: guests.map(({ runId, expiresAt }) => ({ run: runId, until: toIso(expiresAt) })),
    worlds: toWorlds(catalog, planOf(usage.plan)),
    startTimes: toStartTimes(times),
    machines: toMachines([any, four, one], gpusOf(usage.plan)),
    secrets: secretsOf(names, catalog, servers[0]),
    filesStay: serversKeepFiles({ config }),
    stopAfter: toStopAfter(choices),
    asksEnd: asksEndOf(live),
    restart: restartOf(live, usage.plan),
  }
}

function asksEndOf(run: RunRow | undefined): DashboardView['asksEnd'] {
  if (!run || run.defaultEndsAt === null || run.endsAt !== run.defaultEndsAt) return null
  return { run: run.id, endsAt: toIso(run.endsAt) }
}

function secretNamesQuery(ctx: Context, userId: string | SQL) {
  return ctx.db
    .select({ name: secrets.name })
    .from(secrets)
    .where(and(sql`${secrets.userId} = ${userId}`, IS_VALUE))
    .orderBy(asc(secrets.name))
}

function secretsOf(
  rows: { name: string }[],
  catalog: { name: string; isOwn: 0 | 1 }[],
  last: RunRow | undefined,
): DashboardView['secrets'] {
  const names = rows.map(({ name }) => name)
  const own = catalog.flatMap(({ name, isOwn }) => (isOwn ? name : []))
  return names.length && own.length ? { names, own, last: last?.secrets ?? [] } : null
}

function restartOf(run: RunRow | undefined, plan: PlanRow | null): DashboardView['restart'] {
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
