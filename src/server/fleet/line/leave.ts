import { sql } from 'drizzle-orm'
import type { Query } from '../../../../db/client.ts'
import { MINUTE_MS } from '../../../domain/instant.ts'
import type { Context } from '../../runtime/context.ts'
import { passOnQueries } from './turns.ts'

/** Someone who leaves sooner wasn't waiting, just looking. */
const SHORTEST_WAIT_MS = MINUTE_MS

/** For the batch that removes someone: they no longer wait, and a place held for them goes to the next. */
export function leaveQueries(ctx: Pick<Context, 'db' | 'now'>, userId: string, when = sql`1`): Query[] {
  const isIt = sql`user_id = ${userId} AND session_id IS NULL AND ${when}`
  return [
    leftQuery(ctx, isIt),
    ctx.db.run(sql`DELETE FROM line WHERE ${isIt}`),
    ...passOnQueries(ctx, sql`reserved_by = ${userId} AND NOT EXISTS (SELECT 1 FROM line WHERE user_id = ${userId})`),
  ]
}

/** Counts those who leave without a place: they waited as well. */
export function leftQuery(ctx: Pick<Context, 'db' | 'now'>, isIt: ReturnType<typeof sql>): Query {
  const now = ctx.now()
  return ctx.db.run(sql`INSERT INTO line_waits (gpus, trial, position, joined_at, waited_ms, served)
    SELECT gpus, trial, coalesce(joined_position, 1), joined_at, ${now} - joined_at, 0 FROM line
    WHERE ${isIt} AND given_at IS NULL AND lapses = 0 AND joined_at <= ${now - SHORTEST_WAIT_MS}`)
}
