import { and, isNull, lte, max, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { places } from '../../../../db/schema/fleet.ts'
import { AppError } from '../../../domain/error.ts'
import type { RunWishes } from '../../../domain/run-wishes.ts'
import { FREE_NOW } from '../../../domain/server-list.ts'
import type { LinePlace } from '../../../domain/wire/fleet.ts'
import { requireAllowance } from '../../billing/allowance.ts'
import { limitPerson } from '../../limits/limits.ts'
import { LINE } from '../../ports/objects.ts'
import type { Context } from '../../runtime/context.ts'
import { isOfferedAt } from '../places.ts'
import { requireSecrets } from '../secrets.ts'
import { isWithinLimits } from '../start-limits.ts'
import { whyNotStarted } from '../start-refusal.ts'
import type { Starter } from '../start-run.ts'
import { isIncluded, requireWorld, worldQueries } from '../worlds.ts'
import { countLine } from './count.ts'
import { leaveQueries } from './leave.ts'
import { findLinePlace, tellLine } from './show.ts'
import { isFreeFor, isNobodysTurn } from './turns.ts'

/**
 * Joins the line for the largest size that the user's plan and wishes allow. Joining again changes what happens when
 * it's their turn. Only another size moves them to the end.
 * @param start whether we start their server for them, or hold the place
 * @throws conflict if a server is live, a place is free, or another account of the mailbox is waiting; too_many; what a
 * start would throw
 */
export async function joinLine(ctx: Context, starter: Starter, wishes: RunWishes, start: boolean): Promise<LinePlace> {
  const userId = starter.user.id
  await limitPerson(ctx, 'join_line', userId)
  const [allowed, catalog] = await Promise.all([
    requireAllowance(ctx, userId),
    ctx.db.batch([...worldQueries(ctx, userId)]),
  ])
  const most = Math.min(allowed.gpus, wishes.maxGpus ?? allowed.gpus)
  const world = requireWorld(catalog, allowed.plan, wishes)
  if (wishes.secrets.length) await requireSecrets(ctx, userId, wishes.secrets, world)
  const gpus = await findSize(ctx, most)
  await ctx.lineKeeper.arm(LINE)
  const now = ctx.now()
  const included = isIncluded(userId, allowed.plan, world, now)
  const isFree = sql`EXISTS (SELECT 1 FROM servers WHERE gpus = ${gpus} AND ${isOfferedAt(now)}
    AND (${isFreeFor(userId, now)} AND ${isNobodysTurn(userId, now)} OR reserved_by = ${userId}))`
  const [joined] = await writeBatch(ctx.db, [
    ctx.db.run(sql`INSERT INTO line (user_id, gpus, trial, start, wishes, joined_at, queued_at)
      SELECT id, ${gpus}, ${allowed.trialSeconds === null ? 0 : 1}, ${start ? 1 : 0}, ${JSON.stringify({ ...wishes, tokenName: starter.tokenName })}, ${now}, ${now}
      FROM users WHERE id = ${userId} AND closed_at IS NULL AND suspended_at IS NULL AND held_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM server_sessions WHERE user_id = ${userId} AND ended_at IS NULL)
        AND NOT ${isFree} AND NOT ${hasTwinInLine(userId)} AND ${included} AND ${isWithinLimits(userId, now)}
      ON CONFLICT (user_id) DO UPDATE SET start = excluded.start, wishes = excluded.wishes, trial = excluded.trial,
        joined_at = CASE WHEN gpus = excluded.gpus THEN joined_at ELSE excluded.joined_at END,
        queued_at = CASE WHEN gpus = excluded.gpus THEN queued_at ELSE excluded.queued_at END,
        joined_position = CASE WHEN gpus = excluded.gpus THEN joined_position END,
        gpus = excluded.gpus
      WHERE given_at IS NULL AND session_id IS NULL`),
  ])
  if (!joined?.rowsAffected) {
    const refusal = await whyNotStarted(ctx, userId, { placeId: null, gpus: most, isSmaller: false, included, now })
    if (refusal.code !== 'no_capacity') throw refusal
    const [twin] = await ctx.db.all(sql`SELECT 1 AS waits WHERE ${hasTwinInLine(userId)}`)
    if (twin) throw new AppError('conflict', TWIN_WAITS)
    throw new AppError('conflict', FREE_NOW)
  }
  await countLine(ctx, userId)
  ctx.background(ctx.lineKeeper.wake(LINE))
  const place = await findLinePlace(ctx, userId)
  if (!place) throw new AppError('conflict', "It's your turn already: look at your dashboard.")
  return place
}

const TWIN_WAITS = 'Another account of your mailbox waits in line already. Only one of them can wait at a time.'

/** A mailbox waits once, however many accounts it has. */
const hasTwinInLine = (userId: string) => sql`EXISTS (SELECT 1 FROM users AS me
  JOIN users AS other ON other.mailbox = me.mailbox AND other.id <> me.id JOIN line ON line.user_id = other.id
  WHERE me.id = ${userId} AND line.session_id IS NULL)`

/** Gives up their place in line, and any place held for them. Does nothing if they aren't in line. */
export async function leaveLine(ctx: Context, userId: string): Promise<void> {
  const left = await writeBatch(ctx.db, leaveQueries(ctx, userId))
  if (left.some((result) => result?.rowsAffected))
    ctx.background(Promise.all([tellLine(ctx, userId), ctx.lineKeeper.wake(LINE)]))
}

/** The largest size that there is. */
async function findSize(ctx: Context, most: number): Promise<number> {
  const [found] = await ctx.db
    .select({ gpus: max(places.gpus) })
    .from(places)
    .where(and(isNull(places.retiredAt), lte(places.gpus, most)))
  if (!found?.gpus) throw new AppError('no_capacity', 'There is no machine of this size. Contact sales for one.')
  return found.gpus
}
