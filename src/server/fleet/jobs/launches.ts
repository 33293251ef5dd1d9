import { and, desc, eq, isNull, notInArray, or, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../../db/client.ts'
import { type LaunchRow, launches, type RunRow } from '../../../../db/schema.ts'
import { MINUTE_MS } from '../../../domain/instant.ts'
import { newId } from '../../crypto/id.ts'
import type { CloudInstance, LaunchRefusal } from '../../ports/cloud.ts'
import type { Context } from '../../runtime/context.ts'
import { vendorErrorOf } from '../../settings/log.ts'
import { endedQuery, isFreeFor, isNobodysTurn, passOnQueries } from '../line/turns.ts'
import { IS_FREE, setAsideQuery } from '../places.ts'
import { nextLookIn, takeLook } from './sight.ts'

/** If an instance still runs this long after EC2 agreed to terminate it, ask again, doubling the wait each time. */
const ASK_AGAIN_MS = 30_000
/** But no longer than this: a stop may wait for days before it reaches EC2, and a lost request then costs minutes. */
const ASK_AGAIN_MOST_MS = 10 * MINUTE_MS

/** So many instances may die before they run; then the start fails. */
const MOST_DEAD = 3

/** The current attempt, if any. */
export async function findOpenLaunch(ctx: Context, run: RunRow): Promise<LaunchRow | null> {
  const [launch] = await ctx.db
    .select()
    .from(launches)
    .where(and(eq(launches.runId, run.id), or(isNull(launches.outcome), eq(launches.outcome, 'launched'))))
    .orderBy(desc(launches.createdAt))
    .limit(1)
  return launch ?? null
}

/** Recorded before we call EC2, so that we can find the outcome again by its token. */
export async function recordLaunch(ctx: Context, run: RunRow): Promise<LaunchRow> {
  const [launch] = await ctx.db
    .insert(launches)
    .values({ token: newId('launch'), runId: run.id, placeId: run.placeId, createdAt: ctx.now() })
    .returning()
  return launch as LaunchRow
}

const refused = ({ code, error }: LaunchRefusal, dead: CloudInstance | null) => ({
  outcome: 'refused' as const,
  refusalCode: code,
  refusalRequestId: vendorErrorOf(error).vendor_request_id ?? null,
  ...(dead && ec2Record(dead)),
})

/**
 * EC2 refused the only request with this token, or ended its instance before it ran, so there is nothing to look for.
 * @param dead that instance
 */
export async function recordRefusal(
  ctx: Context,
  launch: LaunchRow,
  refusal: LaunchRefusal,
  dead: CloudInstance | null,
): Promise<void> {
  await ctx.db.update(launches).set(refused(refusal, dead)).where(eq(launches.token, launch.token))
}

export async function recordInstance(ctx: Context, launch: LaunchRow, instance: CloudInstance): Promise<void> {
  const { id: instanceId, launchTime: launchedAt } = instance
  await writeBatch(ctx.db, [
    ctx.db
      .update(launches)
      .set({ instanceId, launchedAt, outcome: 'launched' })
      .where(eq(launches.token, launch.token)),
    ctx.db.run(sql`UPDATE server_sessions SET instance_id = ${instanceId} WHERE id = ${launch.runId}`),
  ])
}

/**
 * EC2 refused this place. Sets it aside so that the next customer isn't sent there, frees it, and reserves
 * the next place that this run hasn't tried. Those in line come first, unless it was this run's turn.
 * @param dead the instance that it ended before it ran
 * @param gpus the most that the user's plan and wish allow
 * @returns false if no place is left, or too many instances died; the old one then stays reserved until the run is
 * cleaned up
 */
export async function moveToNextPlace(
  ctx: Context,
  run: RunRow,
  launch: LaunchRow,
  refusal: LaunchRefusal,
  dead: CloudInstance | null,
  gpus: number,
): Promise<boolean> {
  const now = ctx.now()
  const next = sql`(SELECT id FROM servers WHERE ${isFreeFor(run.userId, now)} AND gpus <= ${gpus} AND id NOT IN
    (SELECT server_id FROM launches WHERE session_id = ${run.id})
    AND (SELECT count(instance_id) FROM launches WHERE session_id = ${run.id} AND outcome = 'refused') < ${MOST_DEAD}
    AND (${isNobodysTurn(run.userId, now)} OR EXISTS (SELECT 1 FROM line WHERE session_id = ${run.id})) ORDER BY gpus DESC, position LIMIT 1)`
  const [, , , , moved] = await writeBatch(ctx.db, [
    ctx.db.update(launches).set(refused(refusal, dead)).where(eq(launches.token, launch.token)),
    setAsideQuery(ctx, sql`id = ${launch.placeId}`),
    ctx.db.run(
      sql`UPDATE server_sessions SET server_id = coalesce(${next}, server_id), instance_id = NULL WHERE id = ${run.id}`,
    ),
    ctx.db.run(sql`UPDATE servers SET reserved_by = NULL, reserved_at = NULL WHERE reserved_by = ${run.id}
      AND id <> (SELECT server_id FROM server_sessions WHERE id = ${run.id})`),
    ctx.db.run(sql`UPDATE servers SET reserved_by = ${run.id}, reserved_at = ${now} WHERE ${IS_FREE}
      AND id = (SELECT server_id FROM server_sessions WHERE id = ${run.id})`),
    ctx.db.run(sql`UPDATE server_sessions SET (instance_type, availability_zone) =
      (SELECT instance_type, availability_zone FROM servers WHERE id = server_id) WHERE id = ${run.id}`),
  ])
  return moved?.rowsAffected === 1
}

/**
 * Makes sure that no instance of this run is left.
 * @returns in how many ms to look again; null once it is certain
 */
export async function clearLaunches(ctx: Context, run: RunRow): Promise<number | null> {
  const open = await ctx.db
    .select()
    .from(launches)
    .where(
      and(eq(launches.runId, run.id), or(isNull(launches.outcome), notInArray(launches.outcome, ['gone', 'refused']))),
    )
  for (const launch of open) {
    const end = await endInstance(ctx, run, launch)
    if (typeof end === 'number') return end
    await ctx.db
      .update(launches)
      .set({ outcome: 'gone', ...(end && ec2Record(end)) })
      .where(eq(launches.token, launch.token))
  }
  return null
}

/** What a launch keeps of EC2's own record of its terminated instance. */
function ec2Record({ launchTime, endedAt, endReason }: CloudInstance) {
  return { launchedAt: launchTime, endedAt, endReason }
}

/**
 * EC2 takes a minute or more to terminate: we ask once, then look less and less often.
 * @returns in how many ms to look again; the instance once it is terminated; null if there is none
 */
async function endInstance(ctx: Context, run: RunRow, launch: LaunchRow): Promise<number | CloudInstance | null> {
  const { instanceId, terminateAskedAt } = launch
  if (instanceId && terminateAskedAt === null) {
    const wait = await askToTerminate(ctx, launch, instanceId)
    if (wait !== 'unknown') return wait
  }
  const found = instanceId ? await ctx.cloud.findInstance(instanceId) : await ctx.cloud.findByToken(launch.token)
  // EC2 forgets a terminated instance after an hour. We may come back later than that.
  const instance = await takeLook(ctx, run, found, { ended: terminateAskedAt !== null })
  if (instance === 'lost') return null
  if (instance === 'unseen') return nextLookIn(ctx, run.unseenSince)
  if (instance.state === 'terminated') return instance
  if (!instanceId) await recordInstance(ctx, launch, instance)
  if (terminateAskedAt === null) return askAgain(ctx, launch, instance.id)
  const waited = terminateAskedAt - (run.stopRequestedAt ?? terminateAskedAt)
  const askAgainMs = Math.min(Math.max(ASK_AGAIN_MS, waited), ASK_AGAIN_MOST_MS)
  if (instance.state !== 'shutting-down' && ctx.now() >= terminateAskedAt + askAgainMs)
    return askAgain(ctx, launch, instance.id)
  return nextLookIn(ctx, terminateAskedAt)
}

/**
 * Records the request first, so that a process that dies here doesn't repeat it endlessly; undoes that if EC2
 * didn't accept it.
 */
async function askToTerminate(ctx: Context, launch: LaunchRow, instanceId: string): Promise<number | 'unknown'> {
  const write = (terminateAskedAt: number | null) =>
    ctx.db.update(launches).set({ terminateAskedAt }).where(eq(launches.token, launch.token))
  await write(ctx.now())
  try {
    if ((await ctx.cloud.terminate(instanceId)) === 'accepted') return nextLookIn(ctx, null)
  } catch (error) {
    await write(launch.terminateAskedAt)
    throw error
  }
  await write(launch.terminateAskedAt)
  return 'unknown'
}

/** For an instance that EC2 has just shown us. If EC2 doesn't know it now, the next look decides. */
async function askAgain(ctx: Context, launch: LaunchRow, instanceId: string): Promise<number> {
  const wait = await askToTerminate(ctx, launch, instanceId)
  return wait === 'unknown' ? nextLookIn(ctx, null) : wait
}

/**
 * Frees the place if the run has ended, or gives it to the next in line. For the batch that ends it.
 * @param foundNoMachine if they were in line for this start, they wait again
 */
export function freePlaceQueries(ctx: Context, run: RunRow, { foundNoMachine = false } = {}): Query[] {
  const ended = sql`EXISTS (SELECT 1 FROM server_sessions WHERE id = ${run.id} AND ended_at IS NOT NULL)`
  return [endedQuery(ctx, run.id, foundNoMachine), ...passOnQueries(ctx, sql`reserved_by = ${run.id} AND ${ended}`)]
}
