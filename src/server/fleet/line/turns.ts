import { type SQL, sql } from 'drizzle-orm'
import type { Query } from '../../../../db/client.ts'
import { PAID_TURNS } from '../../../domain/line.ts'
import type { Context } from '../../runtime/context.ts'
import { IS_FREE, isOfferedAt } from '../places.ts'
import { isLeftFor, isOfAGroup, isRival, isWarmLeftFor } from './hold-back.ts'

/**
 * The line in SQL, for the writes that free or reserve a place: they ask it first. The rule is `nextInLine`
 * in `src/domain/line.ts`.
 */

/** A row of `line` that waits for a place. */
export const IS_WAITING = sql`(line.given_at IS NULL AND line.session_id IS NULL)`

/** Whether these rows' turn is over: their account can't start anything, or the API token that joined has ended. */
export const mayStart = (
  now: number,
) => sql`(EXISTS (SELECT 1 FROM users WHERE users.id = line.user_id AND closed_at IS NULL
    AND suspended_at IS NULL AND held_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM server_sessions WHERE server_sessions.user_id = line.user_id AND ended_at IS NULL)
  AND (line.wishes ->> 'tokenName' IS NULL OR EXISTS (SELECT 1 FROM api_tokens WHERE api_tokens.user_id = line.user_id
    AND api_tokens.name = line.wishes ->> 'tokenName' AND revoked_at IS NULL AND expires_at > ${now})))`

/** A place that is held for someone in line is reserved by their user ID, any other by its run's. */
export const IS_HELD = sql`(reserved_by >= 'user_' AND reserved_by < 'user~')`

/** Who gets a row of `servers` next, and when: null for both if nobody waits for its size, or if we can't hand it out. */
function next(now: number): SQL {
  const isTrialsTurn = sql`coalesce((SELECT paid >= ${PAID_TURNS} FROM line_turns WHERE line_turns.gpus = line.gpus), 0)`
  return sql`(SELECT line.user_id, ${now} FROM line
    WHERE line.gpus = servers.gpus AND ${IS_WAITING} AND ${mayStart(now)} AND ${isOfferedAt(now)}
      AND ${isLeftFor(sql`line.user_id`, now)}
      AND ${isWarmLeftFor(sql`line.user_id`, now)}
    ORDER BY line.trial = ${isTrialsTurn} DESC, line.queued_at, line.user_id LIMIT 1)`
}

/**
 * Frees the place that an SQL condition selects, or gives it to the next in line. One place at a time: the next write
 * must know who got this one.
 */
export function passOnQueries(ctx: Pick<Context, 'db' | 'now'>, isIt: SQL): Query[] {
  const now = ctx.now()
  const isNew = sql`${IS_WAITING} AND EXISTS (SELECT 1 FROM servers WHERE reserved_by = line.user_id)`
  const contested = sql`EXISTS (SELECT 1 FROM line AS other WHERE other.gpus = line.gpus AND other.trial
    AND other.user_id <> line.user_id AND other.given_at IS NULL AND other.session_id IS NULL)`
  return [
    ctx.db.run(sql`UPDATE servers SET (reserved_by, reserved_at) = ${next(now)} WHERE ${isIt}`),
    ctx.db.run(sql`INSERT INTO line_turns (gpus, paid) SELECT gpus, NOT trial AND ${contested} FROM line WHERE ${isNew} AND NOT ${isOfAGroup(now)}
      ON CONFLICT (gpus) DO UPDATE SET paid = (SELECT CASE WHEN trial THEN 0
        ELSE min(${PAID_TURNS}, line_turns.paid + ${contested}) END FROM line WHERE ${isNew} AND line.gpus = line_turns.gpus)`),
    ctx.db.run(sql`INSERT INTO line_waits (gpus, trial, position, joined_at, waited_ms, served)
      SELECT gpus, trial, coalesce(joined_position, 1), joined_at, ${now} - joined_at, 1 FROM line
      WHERE ${isNew} AND lapses = 0`),
    ctx.db.run(sql`UPDATE line SET given_at = ${now}, held_until = NULL WHERE ${isNew}`),
  ]
}

/** Whether a row of `servers` is free, and neither it nor its warm machine is held back for others. Null: for anyone. */
export function isFreeFor(userId: string | SQL | null, now: number): SQL {
  return sql`(${IS_FREE} AND ${isOfferedAt(now)} AND ${isLeftFor(userId, now)} AND ${isWarmLeftFor(userId, now)})`
}

/** Whether only this user is waiting for a row of `servers`: people in line come before anyone's click. */
export function isNobodysTurn(userId: string, now: number): SQL {
  return sql`NOT EXISTS (SELECT 1 FROM line WHERE line.gpus = servers.gpus AND ${IS_WAITING} AND line.user_id <> ${userId}
    AND ${isRival(sql`line.user_id`, userId, now)})`
}

/** The place that is held for this user, if we can hand it out. */
export function heldFor(userId: string, now: number): SQL {
  return sql`reserved_by = ${userId} AND ${isOfferedAt(now)}`
}

/** For the batch of their start: they leave the line for this run, and a held place that it didn't take goes to the next. */
export function startedQueries(ctx: Pick<Context, 'db' | 'now'>, userId: string, runId: string): Query[] {
  const isStarted = sql`EXISTS (SELECT 1 FROM server_sessions WHERE id = ${runId})`
  return [
    ctx.db.run(
      sql`UPDATE line SET session_id = ${runId}, held_until = NULL WHERE user_id = ${userId} AND ${isStarted}`,
    ),
    ...passOnQueries(ctx, sql`reserved_by = ${userId} AND ${isStarted}`),
  ]
}

/**
 * For the batch that ends a run: without a machine, they wait again where they were; otherwise they had their turn.
 * After a new password (`startsOnce`), we hold their next place.
 */
export function endedQuery(ctx: Pick<Context, 'db'>, runId: string, foundNoMachine: boolean): Query {
  const isIt = sql`session_id = ${runId} AND EXISTS (SELECT 1 FROM server_sessions WHERE id = ${runId} AND ended_at IS NOT NULL)`
  return foundNoMachine
    ? ctx.db.run(sql`UPDATE line SET session_id = NULL, given_at = NULL, held_until = NULL,
        start = start AND wishes ->> 'startsOnce' IS NULL WHERE ${isIt}`)
    : ctx.db.run(sql`DELETE FROM line WHERE ${isIt}`)
}
