import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { type RunRow, runs } from '../../../../db/schema/fleet.ts'
import { idleVerdict, readIdle } from '../../../domain/idle.ts'
import { toIso } from '../../../domain/instant.ts'
import { SERVER_WEB_PORT } from '../../../domain/server.ts'
import type { Context } from '../../runtime/context.ts'
import { runEventQuery } from '../../runtime/run-events.ts'
import { addressOf } from '../machine.ts'
import { toServer } from '../wire.ts'
import type { Tell } from './step.ts'

/** The user's run, if they don't want to leave it idle, and after how many minutes it ends. Most users have none. */
export function idleQuery(ctx: Context, userId: string) {
  return ctx.db
    .select({ run: runs, minutes: users.idleMinutes })
    .from(runs)
    .innerJoin(users, eq(users.id, runs.userId))
    .where(
      and(
        eq(runs.userId, userId),
        isNotNull(runs.idleLookAt),
        isNotNull(runs.billedFrom),
        isNull(runs.stopRequestedAt),
        isNull(runs.endedAt),
      ),
    )
}

/**
 * If it's time, asks the simulator whether anyone is using it. If nobody is, sets the run's end, which from then on is
 * like any other: with its warning, and with ways to move it. If someone is, or it no longer says, takes that back.
 * @returns when to look again
 */
export async function lookIdle(
  ctx: Context,
  { run, minutes }: { run: RunRow; minutes: number | null },
  tell: Tell,
): Promise<number | null> {
  const { id, idleLookAt, billedFrom } = run
  if (idleLookAt === null || minutes === null || billedFrom === null) return null
  if (ctx.now() < idleLookAt) return idleLookAt
  const address = addressOf(ctx, run)
  // Someone who asked for another hour gets that hour, idle or not.
  const isKept = run.endsSetAt !== null && run.endsAt !== null && !run.idleEnds
  const said = isKept || address === null ? null : await ctx.askStatus(address, SERVER_WEB_PORT)
  const now = ctx.now()
  const idleMs = readIdle(said, now - (run.runningAt ?? billedFrom))
  // Moving the end counts as use.
  const since = idleMs === null ? null : Math.max(now - idleMs, billedFrom, run.endsSetAt ?? 0)
  const { end, next } = idleVerdict({ now, since, minutes, endsAt: run.idleEnds ? run.endsAt : null })
  const asRead = sql`id = ${id} AND stop_requested_at IS NULL AND ended_at IS NULL AND idle_look_at = ${idleLookAt}
    AND ends_at IS ${run.endsAt} AND idle_ends = ${run.idleEnds ? 1 : 0}`
  await writeBatch(ctx.db, [
    ...(end === undefined ? [] : endQueries(ctx, run, end, asRead)),
    ctx.db.run(
      sql`UPDATE server_sessions SET idle_look_at = ${next} WHERE id = ${id} AND idle_look_at = ${idleLookAt}`,
    ),
  ])
  if (end === undefined) return next
  const [changed] = await ctx.db.select().from(runs).where(eq(runs.id, id))
  if (changed) tell('server.updated', toServer(changed, ctx.config))
  // Its warning is due.
  return end === null ? next : now
}

/** An earlier end stays, and so does one by a smaller plan. */
function endQueries(ctx: Context, { id, ownEndsAt }: RunRow, end: number | null, asRead: SQL) {
  if (end === null)
    return [
      runEventQuery(
        ctx,
        id,
        { what: ownEndsAt === null ? 'end_removed' : 'end_moved', detail: toIso(ownEndsAt), by: 'used' },
        asRead,
      ),
      ctx.db.run(
        sql`UPDATE server_sessions SET ends_at = own_ends_at, own_ends_at = NULL, idle_ends = 0 WHERE ${asRead}`,
      ),
    ]
  const isFirst = sql`${asRead} AND NOT plan_ends AND coalesce(ends_at, ${end} + 1) > ${end}
    AND coalesce(must_stop_at, ${end} + 1) > ${end}`
  return [
    runEventQuery(ctx, id, { what: 'end_set', detail: toIso(end), by: 'idle' }, isFirst),
    ctx.db.run(sql`UPDATE server_sessions SET own_ends_at = ends_at, ends_at = ${end}, idle_ends = 1 WHERE ${isFirst}`),
  ]
}
