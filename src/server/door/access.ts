import { and, eq, inArray, sql } from 'drizzle-orm'
import { users } from '../../../db/schema/accounts.ts'
import { doorLinks, runs } from '../../../db/schema/fleet.ts'
import { liveSignInsQuery } from '../accounts/live-sign-ins.ts'
import { isLiveGuest } from '../fleet/guests.ts'
import type { Context } from '../runtime/context.ts'

/** Why someone may come in: the owner's sign-in, a guest's link, or the owner's API token. */
export type Pass = { kind: 'sign_in' | 'guest' | 'token'; id: string }

/** A connection. `what`: absent for the run's door, `log` for its log, `site` for what the site itself sends (for no run). */
export type Held = { runId: string; pass: Pass; what?: 'log' | 'site' }

/** `closed`: not while the account is suspended. `starting`: nothing answers yet. */
type DoorState = 'open' | 'starting' | 'closed' | 'over'

export type FoundDoor = { runId: string; userId: string; label: string; address: string; state: DoorState }

/**
 * The doors of runs. Amazon reassigns the address of an instance that is gone: while EC2 doesn't find ours, or if a
 * later machine has its address, we treat it as gone.
 */
export function doorQuery(ctx: Pick<Context, 'db'>, by: { label: string } | { runIds: string[] }) {
  const isOver = sql`(${runs.stopRequestedAt} IS NOT NULL OR ${runs.endedAt} IS NOT NULL)`
  const isUsable = sql`(${users.confirmedAt} IS NOT NULL AND ${users.closedAt} IS NULL
    AND ${users.suspendedAt} IS NULL AND ${users.heldAt} IS NULL)`
  const isOurs = sql`(${runs.billedFrom} IS NOT NULL AND ${runs.unseenSince} IS NULL AND NOT EXISTS (
    SELECT 1 FROM server_sessions newer WHERE newer.private_address = ${runs.privateAddress}
      AND newer.ended_at IS NULL AND newer.id <> ${runs.id} AND newer.running_at >= ${runs.runningAt}))`
  return ctx.db
    .select({
      runId: runs.id,
      userId: runs.userId,
      label: sql<string>`${runs.doorLabel}`,
      address: sql<string>`coalesce(${runs.privateAddress}, '')`,
      state: sql<DoorState>`CASE WHEN ${isOver} THEN 'over' WHEN NOT ${isUsable} THEN 'closed'
        WHEN ${isOurs} AND ${runs.privateAddress} IS NOT NULL THEN 'open' ELSE 'starting' END`,
    })
    .from(runs)
    .innerJoin(users, eq(users.id, runs.userId))
    .where(
      and(
        sql`${runs.doorLabel} IS NOT NULL`,
        'label' in by ? eq(runs.doorLabel, by.label) : inArray(runs.id, by.runIds),
      ),
    )
}

/** Which of these passes still count: their IDs. */
function livePassesQueries(ctx: Pick<Context, 'db' | 'now'>, passes: Pass[]) {
  const idsOf = (guests: boolean) => passes.filter(({ kind }) => (kind === 'guest') === guests).map(({ id }) => id)
  return [
    liveSignInsQuery(ctx, idsOf(false)),
    ctx.db
      .select({ id: doorLinks.id })
      .from(doorLinks)
      .where(and(inArray(doorLinks.id, idsOf(true)), isLiveGuest(ctx.now()))),
  ] as const
}

/** The door, whether this pass still counts, and when its sign-in was last used, from one read. Each pass belongs to one run. */
export async function findDoor(
  ctx: Pick<Context, 'db' | 'now'>,
  by: { label: string },
  pass: Pass | null,
): Promise<{ door: FoundDoor | null; isIn: boolean; lastSeenAt?: number | undefined }> {
  const [[door], signIns, guests] = await ctx.db.batch([
    doorQuery(ctx, by),
    ...livePassesQueries(ctx, pass ? [pass] : []),
  ])
  return { door: door ?? null, isIn: signIns.length + guests.length > 0, lastSeenAt: signIns[0]?.lastSeenAt }
}

/** Which of these connections may stay, from one read. */
export async function listStaying(ctx: Pick<Context, 'db' | 'now'>, connections: Held[]): Promise<Held[]> {
  const [doors, signIns, guests] = await ctx.db.batch([
    doorQuery(ctx, { runIds: connections.map(({ runId }) => runId) }),
    ...livePassesQueries(
      ctx,
      connections.map(({ pass }) => pass),
    ),
  ])
  const open = new Set(doors.flatMap(({ runId, state }) => (state === 'open' ? runId : [])))
  const live = { guests: new Set(guests.map(({ id }) => id)), signIns: new Set(signIns.map(({ id }) => id)) }
  return connections.filter(
    ({ runId, pass, what }) =>
      live[pass.kind === 'guest' ? 'guests' : 'signIns'].has(pass.id) && (what !== undefined || open.has(runId)),
  )
}
