import { and, eq, type SQL, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { type JobRow, jobs, type RunRow, runs } from '../../../db/schema/fleet.ts'
import { toIso } from '../../domain/instant.ts'
import { NO_WISHES, type RunWishes } from '../../domain/run-wishes.ts'
import { isOnTrial, requireAllowance } from '../billing/allowance.ts'
import { newDoorLabel, newId } from '../crypto/id.ts'
import type { Context } from '../runtime/context.ts'
import { actorOf, runEventQuery } from '../runtime/run-events.ts'
import { heldFor, isFreeFor, isNobodysTurn, startedQueries } from './line/turns.ts'
import { doOnce, isFirst, keepKeyQueries, type Repeatable } from './repeats.ts'
import { isWithinLimits } from './start-limits.ts'
import { hasReady, takeWarmQueries, warmFirst } from './warm/take.ts'
import { isIncluded, requireWorld, worldQueries } from './worlds.ts'

/** A user, and the API token that they use, if any. */
export type Starter = { user: { id: string }; tokenName?: string | null }

/**
 * Reserves the given place, or the largest free one that the user's plan and wishes allow, preferably with a warm
 * machine, and queues the job that launches an instance in it. A place held for them in line comes first; one that
 * others are waiting for is out. A repeated call does so once.
 * @param when an SQL condition of the write
 * @throws what `requireAllowance` does, held, not_offered (its plan doesn't include this world), invalid (no such
 * secret), has_server, stopping, conflict (their plan just changed), not_found (no such place for this plan), too_many,
 * no_capacity
 */
export function startRun(
  ctx: Context,
  starter: Starter,
  placeId: string | null = null,
  repeat: Repeatable | null = null,
  wishes = NO_WISHES,
  when = sql`1`,
): Promise<{ run: RunRow; job: JobRow }> {
  return doOnce(ctx, repeat, () => reserveAndQueue(ctx, starter, placeId, repeat, wishes, when))
}

async function reserveAndQueue(
  ctx: Context,
  starter: Starter,
  placeId: string | null,
  repeat: Repeatable | null,
  wishes: RunWishes,
  when: SQL,
): Promise<{ run: RunRow; job: JobRow }> {
  const userId = starter.user.id
  const { name, stopAfterMs, maxGpus, parameters = {}, secrets = [], untilExit = false, command = null } = wishes
  const told = Object.keys(parameters).length ? JSON.stringify(parameters) : null
  const [allowed, catalog] = await Promise.all([
    requireAllowance(ctx, userId),
    ctx.db.batch([...worldQueries(ctx, userId)]),
  ])
  const gpus = Math.min(allowed.gpus, maxGpus ?? allowed.gpus)
  const world = requireWorld(catalog, allowed.plan, wishes)
  // Loaded when needed: few starts name secrets.
  if (secrets.length) await (await import('./secrets.ts')).requireSecrets(ctx, userId, secrets, world)

  // Not earlier: we may have asked Stripe first, and the alarm must still lie ahead when the batch is
  // written.
  const channel = ctx.channel(userId)
  await channel.arm(userId)
  const runId = newId('ses')
  const jobId = newId('job')
  const now = ctx.now()
  const endsAt = stopAfterMs === null ? null : now + stopAfterMs
  const included = isIncluded(userId, allowed.plan, world, now)
  const wanted = placeId === null ? sql`` : sql`AND servers.id = ${placeId}`
  const isTheirs = sql`${isFreeFor(userId, now)} AND gpus <= ${gpus} ${wanted} AND ${isNobodysTurn(userId, now)}`
  const free = sql`SELECT id FROM servers WHERE ${isTheirs} ORDER BY gpus DESC, position LIMIT 1`
  const mine = and(eq(runs.id, runId), eq(runs.userId, userId))
  await writeBatch(ctx.db, [
    ctx.db.run(sql`UPDATE servers SET reserved_by = ${runId}, reserved_at = ${now}
      WHERE id = coalesce((SELECT id FROM servers WHERE ${heldFor(userId, now)} AND gpus <= ${gpus} ${wanted}),
        ${placeId === null ? warmFirst(free, isTheirs, userId, now) : sql`(${free})`})
      AND NOT EXISTS (SELECT 1 FROM server_sessions WHERE user_id = ${userId} AND ended_at IS NULL)
      AND ${included} AND ${isWithinLimits(userId, now)} AND ${isFirst(repeat, now)} AND ${when}
      AND EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND closed_at IS NULL AND suspended_at IS NULL
        AND held_at IS NULL)`),
    ctx.db.run(sql`INSERT INTO server_sessions (id, user_id, server_id, instance_type, availability_zone, environment, image,
        vehicle, name, ends_at, stop_after, max_gpus, requested_at, hours_look_at, door_label, parameters, secrets, registry,
        until_exit, command, by_token, in_trial, told_warm)
      SELECT ${runId}, ${userId}, servers.id, instance_type, availability_zone, environments.name, image,
        ${world.vehicle}, ${name}, ${endsAt}, ${stopAfterMs === null ? null : stopAfterMs / 1000}, ${maxGpus}, ${now}, ${now}, ${ctx.config.door && newDoorLabel()}, ${told},
        ${secrets.length ? JSON.stringify(secrets) : null}, ${LOGIN_HOST}, ${untilExit ? 1 : 0}, ${command && JSON.stringify(command)}, ${(starter.tokenName ?? null) !== null}, ${isOnTrial(userId)}, ${hasReady(userId, now)}
      FROM servers, environments WHERE reserved_by = ${runId} AND environments.id = ${world.environmentId}`),
    ...takeWarmQueries(ctx, runId),
    ...(endsAt === null
      ? []
      : [runEventQuery(ctx, runId, { what: 'end_set', detail: toIso(endsAt), by: actorOf(starter) })]),
    ctx.db.run(sql`INSERT INTO jobs (id, user_id, session_id, kind, status, progress, run_at, created_at, updated_at)
      SELECT ${jobId}, ${userId}, id, 'server_start', 'queued', 'Reserving a server…', ${now}, ${now}, ${now}
      FROM server_sessions WHERE id = ${runId}`),
    ...keepKeyQueries(ctx, repeat, sql`id = ${jobId}`),
    ...startedQueries(ctx, userId, runId),
  ])
  const [[run], [job]] = await ctx.db.batch([
    ctx.db.select().from(runs).where(mine),
    ctx.db.select().from(jobs).where(eq(jobs.id, jobId)),
  ])
  if (!run || !job) {
    // Loaded when needed: most starts are not refused.
    const { whyNotStarted } = await import('./start-refusal.ts')
    throw await whyNotStarted(ctx, userId, { placeId, gpus, isSmaller: gpus < allowed.gpus, included, now })
  }
  ctx.background(channel.wake(userId))
  return { run, job }
}

/**
 * For a row of an own environment: its image's registry host, if its owner has a login there. Images that name no host
 * are on Docker Hub.
 */
const LOGIN_HOST = sql`(SELECT secrets.name FROM secrets WHERE secrets.user_id = environments.user_id
  AND username IS NOT NULL AND secrets.name = CASE
    WHEN instr(substr(image, 1, instr(image, '/')), '.') AND image NOT LIKE 'index.docker.io/%'
    THEN lower(substr(image, 1, instr(image, '/') - 1)) ELSE 'docker.io' END)`
