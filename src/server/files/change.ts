import { sql } from 'drizzle-orm'
import { AppError } from '../../domain/error.ts'
import { FILE_NOT_FOUND, inText, isWithin } from '../../domain/files.ts'
import type { Context } from '../context.ts'
import { keyOf, openFolder, requireBucket, requireNewPath, requirePath } from './folder.ts'
import { continueMove, FILES_PER_REQUEST, newMove, openMoves, refuseWhileMoving } from './moves.ts'
import { exists, refuseFileAsFolder } from './taken.ts'
import { requirePlanForFiles } from './usage.ts'

/** Makes a folder that has nothing in it yet. @throws invalid, no_plan, conflict, unavailable */
export async function makeFolder(ctx: Context, userId: string, given: string): Promise<{ path: string }> {
  const bucket = requireBucket(ctx)
  const path = requireNewPath(given)
  await requirePlanForFiles(ctx, userId)
  const folder = await openFolder(ctx, userId)
  const key = keyOf(folder, path)
  refuseWhileMoving(await openMoves(ctx, userId), path)
  const [isTaken] = await Promise.all([exists(bucket, key), refuseFileAsFolder(bucket, folder, path)])
  if (isTaken) throw taken(path)
  await bucket.putEmpty(`${key}/`)
  return { path }
}

/**
 * Renames a file, or a folder with everything in it, also when files are full. A large folder moves on after the answer.
 * @returns whether all of it has moved
 * @throws invalid, no_plan, not_found, conflict, unavailable
 */
export async function renameFiles(
  ctx: Context,
  userId: string,
  input: { path: string; to: string },
): Promise<{ path: string; to: string; isDone: boolean }> {
  const bucket = requireBucket(ctx)
  const path = requirePath(input.path)
  const to = requireNewPath(input.to)
  if (path === '') throw new AppError('invalid', 'Name the file or folder to rename.', { field: 'path' })
  if (to === path) throw new AppError('invalid', 'That is already its name.', { field: 'to' })
  if (isWithin(to, path)) throw new AppError('invalid', "A folder can't move into itself.", { field: 'to' })
  await requirePlanForFiles(ctx, userId)
  const folder = await openFolder(ctx, userId)
  const moves = await openMoves(ctx, userId)
  refuseWhileMoving(moves, path)
  refuseWhileMoving(moves, to)
  const [isThere, isTaken] = await Promise.all([
    exists(bucket, keyOf(folder, path)),
    exists(bucket, keyOf(folder, to)),
    refuseFileAsFolder(bucket, folder, to),
  ])
  if (!isThere) throw new AppError('not_found', FILE_NOT_FOUND)
  if (isTaken) throw taken(to)
  const move = newMove(ctx, userId, `files/${path}`, `files/${to}`)
  // If two at once use the same name, one wins.
  const { rowsAffected } = await ctx.db.run(sql`
    INSERT INTO file_moves (id, user_id, source, target, created_at)
    SELECT ${move.id}, ${userId}, ${move.source}, ${move.target}, ${move.createdAt}
    WHERE NOT EXISTS (SELECT 1 FROM file_moves WHERE user_id = ${userId} AND done_at IS NULL
      AND (source = ${move.source} OR target = ${move.target}))`)
  if (rowsAffected === 0) throw taken(to)
  const isDone = await continueMove(ctx, move.id, FILES_PER_REQUEST).catch((error) => {
    ctx.log('move_interrupted', { userId }, error)
    return false
  })
  return { path, to, isDone }
}

function taken(path: string): AppError {
  return new AppError('conflict', `There is already something called ${inText(path)}. Choose another name.`, {
    field: 'to',
  })
}
