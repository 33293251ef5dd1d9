import { sql } from 'drizzle-orm'
import type { Drift } from '../../domain/drift.ts'
import { MINUTE_MS, toIso } from '../../domain/instant.ts'
import type { Context } from '../runtime/context.ts'

/** The page waits no longer than this for the cloud. */
const WAIT_MS = 4_000
const LATE_MS = MINUTE_MS
const MOST_TRIES = 5
const MOST_SHOWN = 100

type Differing = {
  id: string
  user_id: string
  ended_at: number
  ec2_difference: number | null
  short_seconds: number
  credit_at: number | null
}

type LiveRun = {
  id: string
  user_id: string
  instance_id: string | null
  running_at: number | null
  confirmed_at: number | null
}
type LateJob = {
  id: string
  user_id: string
  session_id: string
  kind: string
  attempts: number
  run_at: number
  progress: string | null
}

/** Where EC2 and this database disagree. @throws unavailable, provider_failed */
export async function findDrift(ctx: Context): Promise<Drift> {
  const now = ctx.now()
  // The database last, so that a server that has just started doesn't count as drift.
  const seen = await ctx.cloud.listInstances(WAIT_MS)
  const [live, tokens, late, differing] = await ctx.db.batch([
    ctx.db.all<LiveRun>(
      sql`SELECT id, user_id, instance_id, running_at, confirmed_at FROM server_sessions
        WHERE ended_at IS NULL AND stop_requested_at IS NULL`,
    ),
    ctx.db.all<{ token: string }>(sql`SELECT token FROM launches WHERE session_id IN
      (SELECT id FROM server_sessions WHERE ended_at IS NULL) AND coalesce(outcome, 'launched') = 'launched'
      UNION ALL SELECT token FROM warm_machines WHERE ended_at IS NULL`),
    ctx.db.all<LateJob>(sql`SELECT id, user_id, session_id, kind, attempts, run_at, progress FROM jobs
      WHERE run_at IS NOT NULL AND (run_at < ${now - LATE_MS} OR attempts > ${MOST_TRIES})
      ORDER BY run_at LIMIT ${MOST_SHOWN}`),
    ctx.db.all<Differing>(sql`SELECT id, user_id, ended_at, ec2_difference, short_seconds, credit_at FROM server_sessions
      WHERE (abs(ec2_difference) > 60 OR short_seconds > 60) ORDER BY ended_at DESC LIMIT ${MOST_SHOWN}`),
  ])
  const alive = seen.filter(({ state }) => state === 'pending' || state === 'running')
  const owned = new Set(tokens.map(({ token }) => token))
  const running = new Set(alive.map(({ id }) => id))
  return {
    instances: alive
      .filter(({ token }) => !owned.has(token ?? ''))
      .slice(0, MOST_SHOWN)
      .map(({ id, type, launchTime, tags }) => ({
        id,
        type,
        launched_at: toIso(launchTime),
        run: tags.session ?? null,
        user: tags.user ?? null,
      })),
    runs: live
      .filter((run) => run.running_at !== null && !running.has(run.instance_id ?? ''))
      .slice(0, MOST_SHOWN)
      .map((run) => ({
        id: run.id,
        user: run.user_id,
        instance: run.instance_id,
        seen_at: toIso(run.confirmed_at),
      })),
    jobs: late.map((job) => ({
      id: job.id,
      user: job.user_id,
      run: job.session_id,
      kind: job.kind,
      attempts: job.attempts,
      due_at: toIso(job.run_at),
      progress: job.progress,
    })),
    differing: differing.map((run) => ({
      id: run.id,
      user: run.user_id,
      ended_at: toIso(run.ended_at),
      difference: run.ec2_difference,
      taken_off: run.short_seconds,
      credited: run.credit_at === null,
    })),
  }
}
