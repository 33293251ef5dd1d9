import { and, desc, eq, or, type SQL, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../db/client.ts'
import { type JobRow, jobs, type RunRow, runs } from '../../../db/schema/fleet.ts'
import { AppError } from '../../domain/error.ts'
import { NOT_CHARGED } from '../../domain/money/receipt.ts'
import { endOfFailure, type Failure } from '../../domain/run-end.ts'
import { STOPPING } from '../../domain/server-list.ts'
import { newId } from '../crypto/id.ts'
import type { Context } from '../runtime/context.ts'
import { endReasonAt } from './jobs/ends.ts'
import { doOnce, isFirst, keepKeyQueries, type Repeatable } from './repeats.ts'

const START_CANCELLED = `Start cancelled. ${NOT_CHARGED}`

/**
 * Accepts the end of a run: we bill nothing from this moment on. Repeating it returns the job of the stop
 * that is already running; with an Idempotency-Key, also after it has ended.
 * @throws not_found (also for another user's run), not_running (already stopped)
 */
export function stopRun(
  ctx: Context,
  userId: string,
  input: { runId: string; placeId: string },
  repeat: Repeatable | null = null,
): Promise<{ run: RunRow; job: JobRow }> {
  return doOnce(ctx, repeat, () => stopAndQueue(ctx, userId, input, repeat))
}

async function stopAndQueue(
  ctx: Context,
  userId: string,
  input: { runId: string; placeId: string },
  repeat: Repeatable | null,
): Promise<{ run: RunRow; job: JobRow }> {
  const mine = and(
    eq(runs.id, input.runId),
    eq(runs.userId, userId),
    // The user may still see the place that the start has just moved away from.
    or(
      eq(runs.placeId, input.placeId),
      sql`EXISTS (SELECT 1 FROM launches WHERE session_id = ${input.runId} AND server_id = ${input.placeId})`,
    ),
  )
  const [found] = await ctx.db.select().from(runs).where(mine)
  if (!found) throw new AppError('not_found', 'Server session not found.')
  if (found.endedAt !== null) throw new AppError('not_running', 'This server is already stopped.')

  const channel = ctx.channel(userId)
  await channel.arm(userId)
  const itsStop = sql`id = (SELECT id FROM jobs WHERE session_id = ${found.id} AND kind = 'server_stop' ORDER BY created_at DESC LIMIT 1)`
  const keep = keepKeyQueries(ctx, repeat, itsStop)
  await requestStop(ctx, found, ctx.now(), { when: isFirst(repeat, ctx.now()), after: keep })
  const [[run], [job]] = await ctx.db.batch([
    ctx.db.select().from(runs).where(mine),
    ctx.db
      .select()
      .from(jobs)
      .where(and(eq(jobs.runId, found.id), eq(jobs.kind, 'server_stop')))
      .orderBy(desc(jobs.createdAt))
      .limit(1),
  ])
  if (!run || !job) throw new AppError('not_running', 'This server is already stopped.')
  ctx.background(channel.wake(userId))
  return { run, job }
}

type StopOptions = {
  failure?: Failure | null
  cancelled?: string
  when?: SQL
  before?: (isOpen: SQL) => Query[]
  after?: Query[]
}

/**
 * Records that a run ends: why, the end of its meter, the stop job, and the end of an unfinished start. Does nothing if
 * the end is already recorded.
 * @param until the last moment that may be billed
 * @param failure the reason, if the user didn't request it; the stop job then cleans up and fails with it, and so does
 * the start
 * @param cancelled what an unfinished start says, without a failure
 * @param when an SQL condition: nothing stops unless it is true at that moment
 * @param before what this batch writes first, given an SQL condition: this call records the end
 * @param after what this batch writes last
 * @returns whether this call recorded the end
 */
export async function requestStop(
  ctx: Context,
  run: Pick<RunRow, 'id' | 'userId'>,
  until: number,
  { failure = null, cancelled = START_CANCELLED, when = sql`1`, before = () => [], after = [] }: StopOptions = {},
): Promise<boolean> {
  const now = ctx.now()
  const end = failure && endOfFailure(failure.code)
  const ends = sql`min(${until}, coalesce(must_stop_at, ${until}), coalesce(ends_at, ${until}))`
  // Its program may have ended before anyone stopped it.
  const endReason = sql`CASE WHEN exited_at <= ${ends} THEN 'exited' ELSE ${endReasonAt(now, until)} END`
  const open = sql`id = ${run.id} AND stop_requested_at IS NULL AND ended_at IS NULL AND ${when}`
  const first = before(sql`EXISTS (SELECT 1 FROM server_sessions WHERE ${open})`)
  const results = await writeBatch(ctx.db, [
    ...first,
    ctx.db.run(sql`INSERT INTO jobs (id, user_id, session_id, kind, status, progress, error_code, error_message, run_at, created_at, updated_at)
      SELECT ${newId('job')}, user_id, id, 'server_stop', 'queued', ${STOPPING}, ${failure?.code ?? null},
        ${failure?.message ?? null}, ${now}, ${now}, ${now}
      FROM server_sessions WHERE ${open}`),
    ctx.db.run(sql`UPDATE jobs SET status = 'failed', run_at = NULL, updated_at = ${now},
      error_code = coalesce(error_code, ${failure?.code ?? 'stopped'}),
      error_message = coalesce(error_message, ${failure ? `${failure.message} ${NOT_CHARGED}` : cancelled})
      WHERE session_id = ${run.id} AND kind = 'server_start' AND run_at IS NOT NULL
      AND EXISTS (SELECT 1 FROM server_sessions WHERE ${open})`),
    ctx.db.run(sql`UPDATE server_sessions SET stop_requested_at = ${now},
      ended_because = ${end ? end.because : endReason}, error_code = ${end?.code ?? null},
      metered_until = CASE WHEN billed_from IS NULL THEN NULL ELSE max(billed_from,
        min(${ends}, coalesce(exited_at, ${until}))) END
      WHERE ${open}`),
    ...after,
  ])
  return results[first.length + 2]?.rowsAffected === 1
}
