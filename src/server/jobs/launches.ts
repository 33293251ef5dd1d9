import { and, desc, eq, inArray, isNull, ne, or, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { launches, servers } from '../../../db/schema.ts'
import type { Context } from '../context.ts'
import { newId } from '../id.ts'
import type { SessionRow } from '../wire.ts'

export type LaunchRow = typeof launches.$inferSelect

/** EC2 shows a new instance to everyone within this time; a request of ours has long ended by then. */
const SURELY_VISIBLE_MS = 60_000

/** The attempt that is under way, if any. */
export async function findOpenLaunch(ctx: Context, session: SessionRow): Promise<LaunchRow | null> {
  const [launch] = await ctx.db
    .select()
    .from(launches)
    .where(and(eq(launches.sessionId, session.id), or(isNull(launches.outcome), eq(launches.outcome, 'launched'))))
    .orderBy(desc(launches.createdAt))
    .limit(1)
  return launch ?? null
}

/** Written down before EC2 is asked, so that whatever comes of the request can be found again by its token. */
export async function recordLaunch(ctx: Context, session: SessionRow): Promise<LaunchRow> {
  const [launch] = await ctx.db
    .insert(launches)
    .values({ token: newId('launch'), sessionId: session.id, serverId: session.serverId, createdAt: ctx.now() })
    .returning()
  return launch as LaunchRow
}

/** EC2 is asked again with the same token: only from now on counts how long an instance of it may stay unseen. */
export async function recordRetry(ctx: Context, launch: LaunchRow): Promise<void> {
  await ctx.db.update(launches).set({ createdAt: ctx.now() }).where(eq(launches.token, launch.token))
}

export async function recordInstance(ctx: Context, launch: LaunchRow, instanceId: string): Promise<void> {
  await writeBatch(ctx.db, [
    ctx.db.update(launches).set({ instanceId, outcome: 'launched' }).where(eq(launches.token, launch.token)),
    ctx.db.run(sql`UPDATE server_sessions SET instance_id = ${instanceId} WHERE id = ${launch.sessionId}`),
  ])
}

/**
 * This place has no capacity: frees it and reserves the next one that this run has not tried.
 * @param gpus what the user's plan allows at most
 * @returns false when no place is left; the old one then stays reserved until the run is cleared up
 */
export async function moveToNextPlace(
  ctx: Context,
  session: SessionRow,
  launch: LaunchRow,
  gpus: number,
): Promise<boolean> {
  const next = sql`(SELECT id FROM servers WHERE reserved_by IS NULL AND gpus <= ${gpus} AND id NOT IN
    (SELECT server_id FROM launches WHERE session_id = ${session.id}) ORDER BY gpus DESC, position LIMIT 1)`
  const [, , , moved] = await writeBatch(ctx.db, [
    ctx.db.update(launches).set({ outcome: 'refused' }).where(eq(launches.token, launch.token)),
    ctx.db.run(sql`UPDATE server_sessions SET server_id = coalesce(${next}, server_id) WHERE id = ${session.id}`),
    ctx.db.run(sql`UPDATE servers SET reserved_by = NULL, reserved_at = NULL WHERE reserved_by = ${session.id}
      AND id <> (SELECT server_id FROM server_sessions WHERE id = ${session.id})`),
    ctx.db.run(sql`UPDATE servers SET reserved_by = ${session.id}, reserved_at = ${ctx.now()} WHERE reserved_by IS NULL
      AND id = (SELECT server_id FROM server_sessions WHERE id = ${session.id})`),
    ctx.db.run(sql`UPDATE server_sessions SET instance_type = (SELECT instance_type FROM servers WHERE id = server_id)
      WHERE id = ${session.id}`),
  ])
  return moved?.rowsAffected === 1
}

/**
 * Sees to it that no instance of this run is left.
 * @returns whether that is certain now; if not, look again soon
 */
export async function clearLaunches(ctx: Context, session: SessionRow): Promise<boolean> {
  const open = await ctx.db
    .select()
    .from(launches)
    .where(and(eq(launches.sessionId, session.id), or(isNull(launches.outcome), ne(launches.outcome, 'gone'))))
  const settled: string[] = []
  for (const launch of open) {
    if (launch.outcome === 'refused') continue
    if (!(await isGone(ctx, launch))) return false
    settled.push(launch.token)
  }
  if (settled.length) await ctx.db.update(launches).set({ outcome: 'gone' }).where(inArray(launches.token, settled))
  return true
}

async function isGone(ctx: Context, launch: LaunchRow): Promise<boolean> {
  const instance = launch.instanceId
    ? await ctx.cloud.findInstance(launch.instanceId)
    : await ctx.cloud.findByToken(launch.token)
  if (!instance) return ctx.now() - launch.createdAt >= SURELY_VISIBLE_MS
  if (!launch.instanceId) await recordInstance(ctx, launch, instance.id)
  if (instance.state === 'terminated') return true
  await ctx.cloud.terminate(instance.id)
  return (await ctx.cloud.findInstance(instance.id))?.state === 'terminated'
}

/** Frees the place, if the run has ended. Part of the batch that ends it. */
export function freePlace(ctx: Context, session: SessionRow) {
  const ended = sql`EXISTS (SELECT 1 FROM server_sessions WHERE id = ${session.id} AND ended_at IS NOT NULL)`
  return ctx.db
    .update(servers)
    .set({ reservedBy: null, reservedAt: null })
    .where(and(eq(servers.reservedBy, session.id), ended))
}
