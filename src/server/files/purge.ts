import { and, asc, eq, inArray, isNull, lte, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { fileDeletions, fileMoves } from '../../../db/schema.ts'
import { DAY_MS } from '../../domain/instant.ts'
import { TRACE_DAYS } from '../../domain/retention.ts'
import type { Context } from '../context.ts'
import { fourAtOnce } from '../four-at-once.ts'
import { newMove } from './moves.ts'
import { getRights } from './usage.ts'

const AT_ONCE = 200

/** Run by cron: removes for good what nobody took back in time. */
export async function purgeDeletions(ctx: Context): Promise<void> {
  if (!ctx.bucket) return
  const due = await ctx.db
    .select({ id: fileDeletions.id, userId: fileDeletions.userId })
    .from(fileDeletions)
    .where(and(isNull(fileDeletions.endedAt), lte(fileDeletions.purgeAt, ctx.now())))
    .orderBy(asc(fileDeletions.purgeAt))
    .limit(AT_ONCE)
  await fourAtOnce(due, ({ id, userId }) => writeBatch(ctx.db, purgeQueries(ctx, userId, id)))
}

/** Nobody can take it back anymore, and a trigger removes it. Both or neither, and once. */
export function purgeQueries(ctx: Pick<Context, 'db' | 'now'>, userId: string, id: string) {
  const move = newMove(ctx, userId, `trash/${id}`, null)
  // Else what still moves there would stay for good.
  const isStill = sql`NOT EXISTS (SELECT 1 FROM file_moves AS other WHERE other.target = ${`trash/${id}`}
    AND other.done_at IS NULL)`
  return [
    ctx.db.run(sql`INSERT INTO file_moves (id, user_id, source, created_at)
      SELECT ${move.id}, ${userId}, ${move.source}, ${move.createdAt}
      WHERE EXISTS (SELECT 1 FROM file_deletions WHERE id = ${id} AND user_id = ${userId} AND ended_at IS NULL)
      AND ${isStill}`),
    ctx.db
      .update(fileDeletions)
      .set({ endedAt: ctx.now() })
      .where(and(eq(fileDeletions.id, id), eq(fileDeletions.userId, userId), isNull(fileDeletions.endedAt), isStill)),
  ]
}

/** What is deleted takes room as well: it may have as much as the plan includes, and the oldest goes first. */
export async function trimTrash(ctx: Context, userId: string): Promise<void> {
  const { limit } = await getRights(ctx, userId)
  if (limit === null) return
  const kept = await ctx.db
    .select({ id: fileDeletions.id, bytes: sql<number>`coalesce(sum(${fileMoves.movedBytes}), 0)` })
    .from(fileDeletions)
    .leftJoin(fileMoves, sql`${fileMoves.target} = 'trash/' || ${fileDeletions.id}`)
    .where(and(eq(fileDeletions.userId, userId), isNull(fileDeletions.endedAt)))
    .groupBy(fileDeletions.id)
    .orderBy(sql`${fileDeletions.createdAt} DESC`)
  let bytes = 0
  for (const [i, one] of kept.entries()) {
    bytes += one.bytes
    // The last one can always be undone.
    if (i > 0 && bytes > limit) await writeBatch(ctx.db, purgeQueries(ctx, userId, one.id))
  }
}

/** Everything of theirs, also what could be undone, for good. A trigger removes it. */
export function deleteAllQueries(ctx: Pick<Context, 'db' | 'now'>, userId: string, when = sql`1`) {
  const places = ['files', 'trash'].map((source) => newMove(ctx, userId, source, null))
  return [
    ...places.map(({ id, source, createdAt }) =>
      ctx.db.run(sql`INSERT INTO file_moves (id, user_id, source, created_at)
        SELECT ${id}, ${userId}, ${source}, ${createdAt}
        WHERE EXISTS (SELECT 1 FROM file_folders WHERE user_id = ${userId}) AND ${when}`),
    ),
    ctx.db
      .update(fileDeletions)
      .set({ endedAt: ctx.now() })
      .where(and(eq(fileDeletions.userId, userId), isNull(fileDeletions.endedAt), when)),
  ]
}

/** Run by cron: forgets moves and deletions that are long over. */
export async function forgetMoves(ctx: Pick<Context, 'db' | 'now'>): Promise<void> {
  const before = ctx.now() - TRACE_DAYS * DAY_MS
  const over = ctx.db.select({ id: fileMoves.id }).from(fileMoves).where(lte(fileMoves.doneAt, before)).limit(1000)
  await ctx.db.delete(fileMoves).where(inArray(fileMoves.id, over))
  await ctx.db.delete(fileDeletions).where(lte(fileDeletions.endedAt, before))
}
