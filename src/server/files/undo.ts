import { and, desc, eq, gt, isNull, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { fileDeletions, fileMoves } from '../../../db/schema.ts'
import { AppError } from '../../domain/error.ts'
import { sizeText } from '../../domain/files.ts'
import { toIso } from '../../domain/instant.ts'
import type { FileDeletion } from '../../domain/wire.ts'
import type { Context } from '../context.ts'
import type { Bucket } from '../ports/bucket.ts'
import { keyOf, openFolder, requireBucket } from './folder.ts'
import { continueMove, FILES_PER_REQUEST, newMove, openMoves, refuseWhileMoving } from './moves.ts'
import { exists } from './taken.ts'
import { getUsageOfFiles } from './usage.ts'

const MOST_SHOWN = 50
const MOST_NAMES = 50

/** What can still be undone, newest first. */
export async function listDeletions(ctx: Context, userId: string): Promise<FileDeletion[]> {
  requireBucket(ctx)
  const rows = await ctx.db
    .select()
    .from(fileDeletions)
    .where(and(eq(fileDeletions.userId, userId), isNull(fileDeletions.endedAt), gt(fileDeletions.purgeAt, ctx.now())))
    .orderBy(desc(fileDeletions.createdAt))
    .limit(MOST_SHOWN)
  return rows.map(({ id, path, createdAt, purgeAt }) => ({
    id,
    path,
    deleted_at: toIso(createdAt),
    undo_until: toIso(purgeAt),
  }))
}

/**
 * Brings back what was deleted: to where it was or, if something else is there now, beside it. A large folder moves on
 * after the answer.
 * @throws not_found, conflict, invalid if it doesn't fit anymore, unavailable
 */
export async function undoDeletion(
  ctx: Context,
  userId: string,
  id: string,
): Promise<{ path: string; isDone: boolean }> {
  const bucket = requireBucket(ctx)
  const [row] = await ctx.db
    .select()
    .from(fileDeletions)
    .where(and(eq(fileDeletions.id, id), eq(fileDeletions.userId, userId)))
  if (!row || row.endedAt !== null || row.purgeAt <= ctx.now()) throw tooLate()
  const [folder, moves] = await Promise.all([openFolder(ctx, userId), openMoves(ctx, userId)])
  const place = `trash/${id}`
  refuseWhileMoving(moves, row.path)
  const [{ bytes } = { bytes: 0 }] = await ctx.db
    .select({ bytes: sql<number>`coalesce(sum(${fileMoves.movedBytes}), 0)` })
    .from(fileMoves)
    .where(and(eq(fileMoves.userId, userId), eq(fileMoves.target, place)))
  const { usedBytes, limitBytes } = await getUsageOfFiles(ctx, folder)
  if (limitBytes !== null && usedBytes + bytes > limitBytes)
    throw new AppError(
      'invalid',
      `There is no room to restore this: it has ${sizeText(bytes)}, and your files use ${sizeText(usedBytes)} of ${sizeText(limitBytes)}. Delete something else first.`,
    )
  const path = await freePath(bucket, row.path, (name) => keyOf(folder, name))
  refuseWhileMoving(moves, path)
  const move = newMove(ctx, userId, place, `files/${path}`)
  // Both or neither, and once.
  const [moved] = await writeBatch(ctx.db, [
    ctx.db.run(sql`INSERT INTO file_moves (id, user_id, source, target, created_at)
      SELECT ${move.id}, ${userId}, ${move.source}, ${move.target}, ${move.createdAt}
      WHERE EXISTS (SELECT 1 FROM file_deletions WHERE id = ${id} AND ended_at IS NULL)`),
    ctx.db
      .update(fileDeletions)
      .set({ endedAt: ctx.now() })
      .where(and(eq(fileDeletions.id, id), isNull(fileDeletions.endedAt))),
  ])
  if (moved?.rowsAffected === 0) throw tooLate()
  const isDone = await continueMove(ctx, move.id, FILES_PER_REQUEST).catch((error) => {
    ctx.log('move_interrupted', { userId }, error)
    return false
  })
  return { path, isDone }
}

function tooLate(): AppError {
  return new AppError('not_found', 'This can no longer be undone.')
}

/** `runs/a.txt`, or else `runs/a (restored).txt`, `runs/a (restored 2).txt`, and so on. */
async function freePath(bucket: Bucket, path: string, toKey: (path: string) => string): Promise<string> {
  const dot = path.lastIndexOf('.')
  const end = dot > path.lastIndexOf('/') + 1 ? dot : path.length
  for (let nth = 0; nth < MOST_NAMES; nth++) {
    const mark = nth === 0 ? '' : nth === 1 ? ' (restored)' : ` (restored ${nth})`
    const free = path.slice(0, end) + mark + path.slice(end)
    if (!(await exists(bucket, toKey(free)))) return free
  }
  throw new AppError('conflict', 'Too many things here have this name already. Rename some of them first.')
}
