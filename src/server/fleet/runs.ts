import { and, desc, eq, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../db/client.ts'
import { type JobRow, jobs, places, type RunRow, runs, users } from '../../../db/schema.ts'
import { AppError } from '../../domain/error.ts'
import { toIso } from '../../domain/instant.ts'
import { NOT_CHARGED } from '../../domain/money/receipt.ts'
import { HELD } from '../../domain/money/start-cost.ts'
import { NO_WISHES, type RunWishes } from '../../domain/run-wishes.ts'
import { ALL_RESERVED } from '../../domain/server-list.ts'
import { tooEarly, tooLongUnanswered, UNANSWERED_LIMIT } from '../../domain/start-limits.ts'
import { requireAllowance, suspendedError } from '../billing/allowance.ts'
import type { Context } from '../context.ts'
import { newDoorLabel, newId } from '../id.ts'
import { actorOf, runEventQuery } from '../run-events.ts'
import { IS_FREE, isOfferedAt } from './places.ts'
import { doOnce, isFirst, keepKeyQueries, type Repeatable } from './repeats.ts'
import { countedStartsQuery, isWithinLimits, unansweredQuery } from './start-limits.ts'
import { isIncluded, requireWorld, worldQueries } from './worlds.ts'

const LIST_LIMIT = 100
const SMALLER_RESERVED = 'No smaller machine is free right now. Choose the larger one, or try again in a minute.'
const CHANGED = 'Your plan, or the environment that you chose, just changed. Please try again.'
const START_CANCELLED = `Start cancelled. ${NOT_CHARGED}`

/** The user's latest runs, newest first. */
export function listRunsQuery(ctx: Context, userId: string | SQL) {
  return ctx.db.select().from(runs).where(eq(runs.userId, userId)).orderBy(desc(runs.requestedAt)).limit(LIST_LIMIT)
}

/** A user, and the API token that they use, if any. */
export type Starter = { user: { id: string }; suspended: boolean; tokenName?: string | null }

/**
 * Reserves the given place, or the largest free one that the user's plan and wish allow, and queues the job that
 * launches an instance in it. A repeated call does so once.
 * @throws payment_required, invalid (its plan doesn't include this world), conflict (one is live already), not_found (no
 * such place for this plan), too_many, unavailable (none is free)
 */
export function startRun(
  ctx: Context,
  starter: Starter,
  placeId: string | null = null,
  repeat: Repeatable | null = null,
  wishes = NO_WISHES,
): Promise<{ run: RunRow; job: JobRow }> {
  return doOnce(ctx, repeat, () => reserveAndQueue(ctx, starter, placeId, repeat, wishes))
}

async function reserveAndQueue(
  ctx: Context,
  starter: Starter,
  placeId: string | null,
  repeat: Repeatable | null,
  wishes: RunWishes,
): Promise<{ run: RunRow; job: JobRow }> {
  const userId = starter.user.id
  const { name, stopAfterMs, maxGpus } = wishes
  const [allowed, catalog] = await Promise.all([
    requireAllowance(ctx, userId, starter.suspended),
    ctx.db.batch([...worldQueries(ctx, userId)]),
  ])
  const gpus = Math.min(allowed.gpus, maxGpus ?? allowed.gpus)
  const world = requireWorld(catalog, allowed.plan, wishes)

  // Not earlier: we may have asked Stripe first, and the alarm must still lie ahead when the batch is
  // written.
  const channel = ctx.channel(userId)
  await channel.arm(userId)
  const runId = newId('ses')
  const jobId = newId('job')
  const now = ctx.now()
  const endsAt = stopAfterMs === null ? null : now + stopAfterMs
  const included = isIncluded(userId, allowed.plan, world, now)
  const wanted = placeId === null ? sql`` : sql`AND id = ${placeId}`
  const mine = and(eq(runs.id, runId), eq(runs.userId, userId))
  await writeBatch(ctx.db, [
    ctx.db.run(sql`UPDATE servers SET reserved_by = ${runId}, reserved_at = ${now}
      WHERE id = (SELECT id FROM servers WHERE ${IS_FREE} AND ${isOfferedAt(now)} AND gpus <= ${gpus} ${wanted}
        ORDER BY gpus DESC, position LIMIT 1)
      AND NOT EXISTS (SELECT 1 FROM server_sessions WHERE user_id = ${userId} AND ended_at IS NULL)
      AND ${included} AND ${isWithinLimits(userId, now)} AND ${isFirst(repeat, now)}
      AND EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND closed_at IS NULL AND suspended_at IS NULL
        AND held_at IS NULL)`),
    ctx.db.run(sql`INSERT INTO server_sessions (id, user_id, server_id, instance_type, availability_zone, environment, image,
        vehicle, name, ends_at, stop_after, max_gpus, requested_at, hours_look_at, door_label)
      SELECT ${runId}, ${userId}, servers.id, instance_type, availability_zone, environments.name, image,
        ${world.vehicle}, ${name}, ${endsAt}, ${stopAfterMs === null ? null : stopAfterMs / 1000}, ${maxGpus}, ${now}, ${now}, ${ctx.config.door && newDoorLabel()}
      FROM servers, environments WHERE reserved_by = ${runId} AND environments.id = ${world.environmentId}`),
    ...(endsAt === null
      ? []
      : [runEventQuery(ctx, runId, { what: 'end_set', detail: toIso(endsAt), by: actorOf(starter) })]),
    ctx.db.run(sql`INSERT INTO jobs (id, user_id, session_id, kind, status, progress, run_at, created_at, updated_at)
      SELECT ${jobId}, ${userId}, id, 'server_start', 'queued', 'Reserving a server…', ${now}, ${now}, ${now}
      FROM server_sessions WHERE id = ${runId}`),
    ...keepKeyQueries(ctx, repeat, sql`id = ${jobId}`),
  ])
  const [[run], [job]] = await ctx.db.batch([
    ctx.db.select().from(runs).where(mine),
    ctx.db.select().from(jobs).where(eq(jobs.id, jobId)),
  ])
  if (!run || !job)
    throw await whyNotStarted(ctx, userId, { placeId, gpus, isSmaller: gpus < allowed.gpus, included, now })
  ctx.background(channel.wake(userId))
  return { run, job }
}

async function whyNotStarted(
  ctx: Context,
  userId: string,
  {
    placeId,
    gpus,
    isSmaller,
    included,
    now,
  }: { placeId: string | null; gpus: number; isSmaller: boolean; included: SQL; now: number },
): Promise<AppError> {
  const [[live], place, [account], starts, [unanswered]] = await ctx.db.batch([
    ctx.db
      .select({ id: runs.id })
      .from(runs)
      .where(and(eq(runs.userId, userId), isNull(runs.endedAt))),
    ctx.db
      .select({ id: places.id })
      .from(places)
      .where(and(eq(places.id, placeId ?? ''), isNull(places.retiredAt), lte(places.gpus, gpus))),
    ctx.db
      .select({
        closedAt: users.closedAt,
        suspendedAt: users.suspendedAt,
        heldAt: users.heldAt,
        included: sql<0 | 1>`${included}`,
      })
      .from(users)
      .where(eq(users.id, userId)),
    countedStartsQuery(ctx, userId, now),
    unansweredQuery(ctx, userId, now),
  ])
  // The account closed after we let this request in: nobody could stop the server.
  if (account?.closedAt !== null) return new AppError('unauthenticated', 'Please sign in first.')
  if (account.suspendedAt !== null) return suspendedError()
  if (account.heldAt !== null) return new AppError('forbidden', HELD)
  if (!account.included) return new AppError('conflict', CHANGED)
  if (placeId !== null && !place.length) return new AppError('not_found', "Your plan doesn't include this server.")
  if (live) return new AppError('conflict', 'A server is already running. Stop it before you start another one.')
  const early =
    unanswered && unanswered.ms >= UNANSWERED_LIMIT.total && unanswered.oldest !== null
      ? tooLongUnanswered(unanswered.oldest, now)
      : tooEarly(
          starts.map((start) => start.requestedAt),
          now,
        )
  if (early) return new AppError('too_many', early.sentence, { retryAfter: early.seconds })
  if (placeId) return new AppError('unavailable', 'This server is not free right now. Choose another one.')
  return new AppError('unavailable', isSmaller ? SMALLER_RESERVED : ALL_RESERVED)
}

/**
 * Accepts the end of a run: we bill nothing from this moment on. Repeating it returns the job of the stop
 * that is already running; with an Idempotency-Key, also after it has ended.
 * @throws not_found (also for another user's run), conflict (already stopped)
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
  if (found.endedAt !== null) throw new AppError('conflict', 'This server is already stopped.')

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
  if (!run || !job) throw new AppError('conflict', 'This server is already stopped.')
  ctx.background(channel.wake(userId))
  return { run, job }
}

type StopOptions = {
  failure?: { code: string; message: string } | null
  cancelled?: string
  when?: SQL
  before?: (isOpen: SQL) => Query[]
  after?: Query[]
}

/**
 * Records that a run ends: the end of its meter, the stop job, and the end of an unfinished start. Does
 * nothing if the end is already recorded.
 * @param until the last moment that may be billed
 * @param failure the reason, if the user didn't ask for it; the stop job then cleans up and fails with it,
 * and so does the start
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
  const open = sql`id = ${run.id} AND stop_requested_at IS NULL AND ended_at IS NULL AND ${when}`
  const first = before(sql`EXISTS (SELECT 1 FROM server_sessions WHERE ${open})`)
  const results = await writeBatch(ctx.db, [
    ...first,
    ctx.db.run(sql`INSERT INTO jobs (id, user_id, session_id, kind, status, progress, error_code, error_message, run_at, created_at, updated_at)
      SELECT ${newId('job')}, user_id, id, 'server_stop', 'queued', 'Stopping server...', ${failure?.code ?? null},
        ${failure?.message ?? null}, ${now}, ${now}, ${now}
      FROM server_sessions WHERE ${open}`),
    ctx.db.run(sql`UPDATE jobs SET status = 'failed', run_at = NULL, updated_at = ${now},
      error_code = coalesce(error_code, ${failure?.code ?? 'stopped'}),
      error_message = coalesce(error_message, ${failure ? `${failure.message} ${NOT_CHARGED}` : cancelled})
      WHERE session_id = ${run.id} AND kind = 'server_start' AND run_at IS NOT NULL
      AND EXISTS (SELECT 1 FROM server_sessions WHERE ${open})`),
    ctx.db.run(sql`UPDATE server_sessions SET stop_requested_at = ${now},
      metered_until = CASE WHEN billed_from IS NULL THEN NULL ELSE max(billed_from,
        min(${until}, coalesce(must_stop_at, ${until}), coalesce(ends_at, ${until}))) END
      WHERE ${open}`),
    ...after,
  ])
  return results[first.length + 2]?.rowsAffected === 1
}
