import { sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { AppError } from '../../domain/error.ts'
import { FILE_NOT_FOUND, UNDO_DAYS } from '../../domain/files.ts'
import { DAY_MS } from '../../domain/instant.ts'
import type { Context } from '../context.ts'
import { newId } from '../id.ts'
import { keyOf, openFolder, requireBucket, requirePath } from './folder.ts'
import { continueMove, FILES_PER_REQUEST, newMove, openMoves, refuseWhileMoving } from './moves.ts'
import { trimTrash } from './purge.ts'
import { exists } from './taken.ts'

/** A deletion that can be undone until `undoUntil`. */
export type Deletion = { id: string; path: string; undoUntil: number }

/**
 * Moves a file, or a folder with everything in it, to where only we see it. A large folder moves on after the answer.
 * @throws invalid, not_found, conflict, unavailable
 */
export async function deleteFiles(ctx: Context, userId: string, given: string): Promise<Deletion> {
  const bucket = requireBucket(ctx)
  const path = requirePath(given)
  if (path === '') throw new AppError('invalid', 'Name the file or folder to delete.', { field: 'path' })
  const folder = await openFolder(ctx, userId)
  refuseWhileMoving(await openMoves(ctx, userId), path)
  if (!(await exists(bucket, keyOf(folder, path)))) throw new AppError('not_found', FILE_NOT_FOUND)
  const id = newId('del')
  const now = ctx.now()
  const purgeAt = now + UNDO_DAYS * DAY_MS
  const move = newMove(ctx, userId, `files/${path}`, `trash/${id}`)
  // Of two at once, one has everything, and the other nothing.
  const [moved] = await writeBatch(ctx.db, [
    ctx.db.run(sql`INSERT INTO file_moves (id, user_id, source, target, created_at)
      SELECT ${move.id}, ${userId}, ${move.source}, ${move.target}, ${now}
      WHERE NOT EXISTS (SELECT 1 FROM file_moves WHERE user_id = ${userId} AND done_at IS NULL
        AND (source = ${move.source} OR target = ${move.source}))`),
    ctx.db.run(sql`INSERT INTO file_deletions (id, user_id, path, created_at, purge_at)
      SELECT ${id}, ${userId}, ${path}, ${now}, ${purgeAt}
      WHERE EXISTS (SELECT 1 FROM file_moves WHERE id = ${move.id})`),
  ])
  if (!moved?.rowsAffected) throw new AppError('not_found', FILE_NOT_FOUND)
  // It is deleted from here on: if the bucket stops answering now, a trigger continues.
  await continueMove(ctx, move.id, FILES_PER_REQUEST)
    .then(() => trimTrash(ctx, userId))
    .catch((error) => ctx.log('move_interrupted', { userId }, error))
  return { id, path, undoUntil: purgeAt }
}
