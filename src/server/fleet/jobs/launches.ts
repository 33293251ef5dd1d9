import { and, desc, eq, isNull, notInArray, or, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../../db/client.ts'
import { type LaunchRow, launches, type RunRow } from '../../../../db/schema/fleet.ts'
import { MINUTE_MS } from '../../../domain/instant.ts'
import { newId } from '../../crypto/id.ts'
import type { CloudInstance } from '../../ports/cloud.ts'
import type { Context } from '../../runtime/context.ts'
import { endedQuery, passOnQueries } from '../line/turns.ts'
import { nextLookIn, takeLook } from './sight.ts'

/** If an instance still runs this long after EC2 agreed to terminate it, ask again, doubling the wait each time. */
const ASK_AGAIN_MS = 30_000
/** But no longer than this: a stop may wait for days before it reaches EC2, and a lost request then costs minutes. */
const ASK_AGAIN_MOST_MS = 10 * MINUTE_MS

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

export async function recordInstance(ctx: Context, launch: LaunchRow, instance: CloudInstance): Promise<void> {
  const { id: instanceId, launchTime: launchedAt } = instance
  await writeBatch(ctx.db, [
    ctx.db
      .update(launches)
      .set({ instanceId, launchedAt, outcome: 'launched' })
      .where(eq(launches.token, launch.token)),
    // If EC2 never heard of the warm machine's launch, this instance is the run's own, and needs no telling.
    ctx.db.run(sql`UPDATE server_sessions SET instance_id = ${instanceId}, warm = warm AND ${instance.tags.warm !== undefined}
      WHERE id = ${launch.runId}`),
  ])
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
    if (run.warm && run.workGivenAt === null && (await dropForeign(ctx, run, launch))) continue
    const end = await endInstance(ctx, run, launch)
    if (typeof end === 'number') return end
    await ctx.db
      .update(launches)
      .set({ outcome: 'gone', ...(end && ec2Record(end)) })
      .where(eq(launches.token, launch.token))
  }
  return null
}

/** Loaded when needed: few starts end before their warm machine has heard of them. */
const dropForeign: Drop = async (...about) => (await import('../warm/foreign.ts')).dropForeign(...about)
type Drop = typeof import('../warm/foreign.ts').dropForeign

/** What a launch keeps of EC2's own record of its terminated instance. */
export function ec2Record({ launchTime, endedAt, endReason }: CloudInstance) {
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
 * Frees the place of a run that has ended, or gives it to the next in line. For the batch that ends it.
 * @param foundNoMachine if they were in line for this start, they wait again
 */
export function freePlaceQueries(ctx: Context, run: RunRow, { foundNoMachine = false } = {}): Query[] {
  const ended = sql`EXISTS (SELECT 1 FROM server_sessions WHERE id = ${run.id} AND ended_at IS NOT NULL)`
  return [endedQuery(ctx, run.id, foundNoMachine), ...passOnQueries(ctx, sql`reserved_by = ${run.id} AND ${ended}`)]
}
