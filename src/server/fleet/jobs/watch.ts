import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { type RunRow, runs } from '../../../../db/schema.ts'
import { type Context, withLogFields } from '../../context.ts'
import { requestStop } from '../runs.ts'
import { alertIfRefused } from './refusals.ts'
import { takeLook } from './sight.ts'

/** How often we look at a running instance, so that we notice within a minute if it ended. */
const WATCH_EVERY_MS = 30_000
/** EC2 only stops our instances at their end: a stopped one never runs again. */
const ENDED = new Set(['shutting-down', 'terminated', 'stopping', 'stopped'])

/**
 * Looks at the user's running server: ends a trial that has used up its minutes, and a run whose instance is
 * gone.
 * @returns when to look again; null if nothing runs
 */
export async function watchRunning(ctx: Context, userId: string): Promise<number | null> {
  const [run] = await ctx.db
    .select()
    .from(runs)
    .where(and(eq(runs.userId, userId), isNotNull(runs.runningAt), isNull(runs.stopRequestedAt), isNull(runs.endedAt)))
  if (!run || run.confirmedAt === null) return null
  const now = ctx.now()
  if (run.mustStopAt !== null && now >= run.mustStopAt) {
    // Unless a plan that just began has lifted the trial's end.
    await requestStop(ctx, run, run.mustStopAt, null, sql`must_stop_at <= ${now}`)
    return now
  }
  const trialEnd = run.mustStopAt ?? Number.POSITIVE_INFINITY
  if (now < run.confirmedAt + WATCH_EVERY_MS) return Math.min(run.confirmedAt + WATCH_EVERY_MS, trialEnd)

  const instance = await look(ctx, run)
  if (instance === 'failed') return Math.min(now + Math.round(WATCH_EVERY_MS * (1 + ctx.random())), trialEnd)
  if (instance === 'lost' || (instance !== 'unseen' && ENDED.has(instance.state))) {
    await requestStop(ctx, run, run.confirmedAt, {
      code: 'instance_lost',
      message: 'Your server stopped unexpectedly. We only count the time until we last saw it running.',
    })
    return now
  }
  if (instance !== 'unseen' && instance.state === 'running')
    await ctx.db.run(
      sql`UPDATE server_sessions SET confirmed_at = ${now} WHERE id = ${run.id} AND stop_requested_at IS NULL`,
    )
  return Math.min(now + WATCH_EVERY_MS, trialEnd)
}

/**
 * A failed look proves nothing. Thousands that EC2 throttles at once must not retry at once, or more often
 * than before.
 */
async function look(base: Context, run: RunRow) {
  const ctx = withLogFields(base, { runId: run.id, instanceId: run.instanceId })
  try {
    return await takeLook(ctx, run, run.instanceId ? await ctx.cloud.findInstance(run.instanceId) : null)
  } catch (error) {
    ctx.log('watch_failed', {}, error)
    await alertIfRefused(ctx, error)
    return 'failed'
  }
}
