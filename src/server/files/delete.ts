import { writeBatch } from '../../../db/client.ts'
import { fileDeletions, fileMoves } from '../../../db/schema.ts'
import { AppError } from '../../domain/error.ts'
import { FILE_NOT_FOUND, UNDO_DAYS } from '../../domain/files.ts'
import { DAY_MS } from '../../domain/instant.ts'
import type { Context } from '../context.ts'
import { newId } from '../id.ts'
import type { Bucket } from '../ports/bucket.ts'
import { keyOf, openFolder, requireBucket, requirePath } from './folder.ts'
import { continueMove, FILES_PER_REQUEST, newMove, openMoves, refuseWhileMoving } from './moves.ts'
import { trimTrash } from './purge.ts'

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
  await writeBatch(ctx.db, [
    ctx.db.insert(fileDeletions).values({ id, userId, path, createdAt: now, purgeAt }),
    ctx.db.insert(fileMoves).values(move),
  ])
  // It is deleted from here on: if the bucket stops answering now, a trigger continues.
  await continueMove(ctx, move.id, FILES_PER_REQUEST)
    .then(() => trimTrash(ctx, userId))
    .catch((error) => ctx.log('move_interrupted', { userId }, error))
  return { id, path, undoUntil: purgeAt }
}

/** Whether there is a file of this name, or anything in a folder of this name. */
export async function exists(bucket: Bucket, key: string): Promise<boolean> {
  if (await bucket.find(key)) return true
  return (await bucket.list({ prefix: `${key}/`, most: 1 })).files.length > 0
}
