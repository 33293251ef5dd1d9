import { AppError } from '../../domain/error.ts'
import { FILE_NOT_FOUND, nameOf } from '../../domain/files.ts'
import type { Context } from '../context.ts'
import { findFolder, keyOf, requireBucket, requirePath } from './folder.ts'
import { isLeaving, openMoves } from './moves.ts'

const LINK_SECONDS = 60

/**
 * A link to one file, for a minute. It opens on the bucket's origin, and as a download.
 * @throws invalid, not_found, unavailable
 */
export async function linkToFile(ctx: Context, userId: string, given: string): Promise<string> {
  const bucket = requireBucket(ctx)
  const path = requirePath(given)
  const folder = await findFolder(ctx, userId)
  if (!folder) throw new AppError('not_found', FILE_NOT_FOUND)
  const key = keyOf(folder, path)
  const [found, moves] = await Promise.all([path === '' ? null : bucket.find(key), openMoves(ctx, userId)])
  if (!found || isLeaving(moves, path)) throw new AppError('not_found', FILE_NOT_FOUND)
  return bucket.signDownload(key, { seconds: LINK_SECONDS, fileName: nameOf(path) })
}
