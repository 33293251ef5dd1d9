import { createHash, randomBytes } from 'node:crypto'
import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { doorLinks, runs } from '../../../db/schema/fleet.ts'
import { type Door, doorUrl, ENTER_PATH, GUEST_HOURS, guestMs, MAX_GUESTS, TICKET_MS } from '../../domain/door.ts'
import { AppError } from '../../domain/error.ts'
import { toIso } from '../../domain/instant.ts'
import type { Guest } from '../../domain/wire/door.ts'
import { newId } from '../crypto/id.ts'
import { isLiveGuest } from '../fleet/guests.ts'
import { limitPerson } from '../limits/limits.ts'
import type { Context } from '../runtime/context.ts'
import type { Pass } from './access.ts'

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url')

async function findDoorRun(ctx: Context, userId: string, runId: string) {
  const [run] = await ctx.db
    .select({
      id: runs.id,
      name: runs.name,
      label: runs.doorLabel,
      isLive: sql<0 | 1>`stop_requested_at IS NULL AND ended_at IS NULL`,
    })
    .from(runs)
    .where(and(eq(runs.id, runId), eq(runs.userId, userId)))
  return run?.label ? { ...run, label: run.label, isLive: run.isLive === 1 } : null
}

/** The user's run, if it has a door. @throws not_found, also for another user's */
export async function getDoorRun(ctx: Context, userId: string, runId: string) {
  const run = await findDoorRun(ctx, userId, runId)
  if (!run) throw new AppError('not_found', 'Server not found.')
  return run
}

/**
 * The address that takes the owner's browser in, once, within a minute. For an ended run, and for a HEAD request, the
 * door's own address. Null if it isn't theirs.
 * @throws too_many
 */
export async function openDoor(
  ctx: Context,
  door: Door,
  holder: { userId: string; signInId: string },
  wanted: { runId: string; port: number | null; to: string; isSeen: boolean },
): Promise<string | null> {
  const run = await findDoorRun(ctx, holder.userId, wanted.runId)
  if (!run) return null
  const url = new URL(doorUrl(door, run.label, wanted.port))
  if (!run.isLive || !wanted.isSeen) return url.href
  await limitPerson(ctx, 'open_door', holder.userId)
  const ticket = randomBytes(32).toString('base64url')
  const now = ctx.now()
  await writeBatch(ctx.db, [
    ctx.db.run(
      sql`DELETE FROM door_links WHERE session_id = ${run.id} AND sign_in_id IS NOT NULL AND expires_at < ${now}`,
    ),
    ctx.db.insert(doorLinks).values({
      id: newId('tkt'),
      hash: hashOf(ticket),
      runId: run.id,
      signInId: holder.signInId,
      createdAt: now,
      expiresAt: now + TICKET_MS,
    }),
  ])
  url.pathname = ENTER_PATH
  url.searchParams.set('ticket', ticket)
  url.searchParams.set('to', wanted.to)
  return url.href
}

/** Takes a ticket, so that it works once. */
export async function redeemTicket(ctx: Context, label: string, ticket: string): Promise<Pass | null> {
  const now = ctx.now()
  const [taken] = await ctx.db.all<{ signInId: string }>(sql`UPDATE door_links SET used_at = ${now}, uses = 1
    WHERE hash = ${hashOf(ticket)} AND sign_in_id IS NOT NULL AND used_at IS NULL AND expires_at > ${now}
      AND session_id = (SELECT id FROM server_sessions WHERE door_label = ${label})
    RETURNING sign_in_id AS signInId`)
  return taken ? { kind: 'sign_in', id: taken.signInId } : null
}

/** Lets a guest in and counts them, until the run ends. */
export async function admitGuest(ctx: Context, label: string, secret: string): Promise<Pass | null> {
  const now = ctx.now()
  const [guest] = await ctx.db.all<{ id: string }>(sql`UPDATE door_links SET used_at = ${now}, uses = uses + 1
    WHERE hash = ${hashOf(secret)} AND sign_in_id IS NULL AND revoked_at IS NULL AND expires_at > ${now}
      AND session_id = (SELECT id FROM server_sessions WHERE door_label = ${label}
        AND stop_requested_at IS NULL AND ended_at IS NULL)
    RETURNING id`)
  return guest ? { kind: 'guest', id: guest.id } : null
}

/**
 * A link that lets in anyone who has it, until its hours or the run are over. Only this answer has it.
 * @throws invalid, not_found, too_many, not_running, conflict
 */
export async function inviteGuest(
  ctx: Context,
  door: Door,
  userId: string,
  runId: string,
  hours: number,
): Promise<Guest & { url: string }> {
  if (!Number.isInteger(hours) || hours < GUEST_HOURS.least || hours > GUEST_HOURS.most)
    throw new AppError('invalid', `Choose from ${GUEST_HOURS.least} to ${GUEST_HOURS.most} hours.`, { field: 'hours' })
  const run = await getDoorRun(ctx, userId, runId)
  await limitPerson(ctx, 'invite_guest', userId)
  const secret = randomBytes(32).toString('base64url')
  const now = ctx.now()
  const row = { id: newId('gst'), createdAt: now, expiresAt: now + guestMs(hours), usedAt: null, uses: 0 }
  const made = await ctx.db.run(sql`INSERT INTO door_links (id, hash, session_id, created_at, expires_at)
    SELECT ${row.id}, ${hashOf(secret)}, id, ${now}, ${row.expiresAt} FROM server_sessions
    WHERE id = ${run.id} AND stop_requested_at IS NULL AND ended_at IS NULL
      AND (SELECT count(*) FROM door_links WHERE session_id = ${run.id} AND sign_in_id IS NULL
        AND revoked_at IS NULL AND expires_at > ${now}) < ${MAX_GUESTS}`)
  if (!made.rowsAffected)
    throw run.isLive
      ? new AppError('conflict', `You have ${MAX_GUESTS} open guest links. End one of them first.`)
      : new AppError('not_running', 'This server has stopped.')
  const url = new URL(doorUrl(door, run.label))
  url.pathname = ENTER_PATH
  url.searchParams.set('guest', secret)
  return { ...toGuest(row), url: url.href }
}

/** The links that still let people in, oldest first. @throws not_found */
export async function listGuests(ctx: Context, userId: string, runId: string): Promise<Guest[]> {
  await getDoorRun(ctx, userId, runId)
  const rows = await ctx.db
    .select()
    .from(doorLinks)
    .where(and(eq(doorLinks.runId, runId), isLiveGuest(ctx.now())))
    .orderBy(asc(doorLinks.createdAt))
  return rows.map(toGuest)
}

/** Ends a link and closes its open connections. @throws not_found */
export async function endGuest(ctx: Context, userId: string, runId: string, guestId: string): Promise<void> {
  await getDoorRun(ctx, userId, runId)
  const [ended] = await ctx.db
    .update(doorLinks)
    .set({ revokedAt: ctx.now() })
    .where(
      and(
        eq(doorLinks.id, guestId),
        eq(doorLinks.runId, runId),
        isNull(doorLinks.signInId),
        isNull(doorLinks.revokedAt),
      ),
    )
    .returning({ id: doorLinks.id })
  if (!ended) throw new AppError('not_found', 'Guest link not found.')
  await ctx.door(userId).recheck()
}

type GuestRow = Pick<typeof doorLinks.$inferSelect, 'id' | 'createdAt' | 'expiresAt' | 'usedAt' | 'uses'>

function toGuest({ id, createdAt, expiresAt, usedAt, uses }: GuestRow): Guest {
  return { id, created_at: toIso(createdAt), expires_at: toIso(expiresAt), last_used_at: toIso(usedAt), uses }
}
