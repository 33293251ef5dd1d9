import { and, asc, desc, eq, isNotNull, lte, sql } from 'drizzle-orm'
import { type JobRow, jobs, type RunRow, runs } from '../../../../db/schema/fleet.ts'
import type { Job, JobKind } from '../../../domain/wire/fleet.ts'
import { type Context, withLogFields } from '../../runtime/context.ts'
import { currentJobsQuery } from '../dashboard.ts'
import { toJob } from '../wire.ts'
import { idleQuery, lookIdle } from './idle.ts'
import type { Step, Tell } from './step.ts'
import { watchEnd } from './watch-end.ts'

/** To add a kind of job, add a file with its step and a line here. Loaded when needed: pages start faster without them. */
const STEPS: Record<JobKind, () => Promise<Step>> = {
  server_start: async () => (await import('./server-start.ts')).stepServerStart,
  server_stop: async () => (await import('./server-stop.ts')).stepServerStop,
}

/**
 * Retries a step after a temporary failure in 2, 4, 8… 30 s, plus up to half of that, so that steps that
 * failed together don't retry together. Steps handle their own deadlines.
 */
const retryDelay = (attempts: number, random: number) =>
  Math.min(30_000, 1_000 * 2 ** Math.min(attempts, 5)) * (1 + random / 2)

export type Publish = (job: Job) => void

/**
 * Runs one step of each due job, oldest first, then looks at the trial, so that it includes a run that just started. A
 * server that is simply running needs no look here: the fleet's watcher looks at it. Safe to repeat and to interrupt
 * anywhere.
 * @returns when something is due next (ms since 1970); null if nothing is
 */
async function runDue(base: Context, userId: string, publish: Publish, tell: Tell): Promise<number | null> {
  const ctx = withLogFields(base, { userId })
  for (const { job, run } of await listDue(ctx, userId)) await runStep(ctx, job, run, publish)
  const endAt = await watchEnd(ctx, userId, tell)
  const [[next], [idle]] = await ctx.db.batch([
    ctx.db
      .select({ at: sql<number | null>`min(${jobs.runAt})` })
      .from(jobs)
      .where(and(eq(jobs.userId, userId), isNotNull(jobs.runAt))),
    idleQuery(ctx, userId),
  ])
  const idleAt = idle ? await lookIdle(ctx, idle, tell) : null
  const times = [endAt, idleAt, next?.at ?? null].filter((at) => at !== null)
  return times.length ? Math.min(...times) : null
}

/**
 * Runs due jobs, and remembers failures: if a run may have ended a job without publishing it, the next one
 * that reaches the database publishes it.
 */
export function jobRunner(publish: Publish, tell: Tell) {
  let untold = false
  return async (ctx: Context, userId: string): Promise<number | null> => {
    const again = untold
    untold = true
    const next = await runDue(ctx, userId, publish, tell)
    if (again) for (const { job, run } of await currentJobsQuery(ctx, userId)) publish(toJob(job, run, ctx.config))
    untold = false
    return next
  }
}

async function runStep(base: Context, job: JobRow, run: RunRow, publish: Publish): Promise<void> {
  const { id: jobId, kind, attempts } = job
  const ctx = withLogFields(base, { jobId, runId: run.id, kind, attempts })
  if (job.status === 'queued') {
    await writeUnfinished(ctx, job, { status: 'running' })
    if (job.kind === 'server_stop') await publishStopped(ctx, run, publish)
  }
  let said = job.status === 'queued' ? null : job.progress
  const report = async (progress: string) => {
    if (progress === said) return
    said = progress
    await writeUnfinished(ctx, job, { progress })
    await publishJob(ctx, job.id, publish)
  }
  try {
    const outcome = await (await STEPS[job.kind]())({ ctx, job, run, report })
    if (outcome === 'finished') return await publishJob(ctx, job.id, publish)
    await writeUnfinished(ctx, job, { runAt: ctx.now() + outcome.wait, attempts: 0 })
  } catch (error) {
    ctx.log('job_step_failed', {}, error)
    await (await import('./refusals.ts')).alertIfRefused(ctx, error)
    const again = { runAt: Math.round(ctx.now() + retryDelay(attempts + 1, ctx.random())), attempts: attempts + 1 }
    // The write that ended the job may have gone through even though we got no answer.
    if (!(await writeUnfinished(ctx, job, again))) await publishJob(ctx, job.id, publish)
  }
}

/** Only while the job is unfinished: it must not change a start that someone has stopped. */
async function writeUnfinished(ctx: Context, job: JobRow, change: Partial<JobRow>): Promise<boolean> {
  const { rowsAffected } = await ctx.db
    .update(jobs)
    .set({ ...change, updatedAt: ctx.now() })
    .where(and(eq(jobs.id, job.id), isNotNull(jobs.runAt)))
  return rowsAffected > 0
}

async function publishJob(ctx: Context, id: string, publish: Publish): Promise<void> {
  const [row] = await withSessions(ctx).where(eq(jobs.id, id))
  if (row) publish(toJob(row.job, row.run, ctx.config))
}

/** A stop ended the current start: tell its listeners. */
async function publishStopped(ctx: Context, run: RunRow, publish: Publish): Promise<void> {
  const [row] = await withSessions(ctx)
    .where(and(eq(jobs.runId, run.id), eq(jobs.kind, 'server_start'), eq(jobs.status, 'failed')))
    .orderBy(desc(jobs.createdAt))
    .limit(1)
  if (row) publish(toJob(row.job, row.run, ctx.config))
}

function listDue(ctx: Context, userId: string) {
  return withSessions(ctx)
    .where(and(eq(jobs.userId, userId), isNotNull(jobs.runAt), lte(jobs.runAt, ctx.now())))
    .orderBy(asc(jobs.runAt))
}

function withSessions(ctx: Context) {
  return ctx.db.select({ job: jobs, run: runs }).from(jobs).innerJoin(runs, eq(jobs.runId, runs.id)).$dynamic()
}
