import { nameOf } from '../../domain/files.ts'
import { toIso } from '../../domain/instant.ts'
import type { FileList } from '../../domain/wire.ts'
import type { Context } from '../context.ts'
import { filesPrefix, findFolder, keyOf, requireBucket, requirePath } from './folder.ts'
import { isLeaving, openMoves } from './moves.ts'
import { getUsageOf, getUsageOfFiles } from './usage.ts'

/**
 * One page of a folder, straight from the bucket. A folder that doesn't exist is empty: buckets know only files.
 * @throws invalid, unavailable
 */
export async function listFiles(
  ctx: Context,
  userId: string,
  input: { path: string; after: string | null; most?: number },
): Promise<FileList> {
  const bucket = requireBucket(ctx)
  const path = requirePath(input.path)
  // Reading makes no folder.
  const folder = await findFolder(ctx, userId)
  if (!folder) {
    const { usedBytes, limitBytes, countedAt } = await getUsageOf(ctx, userId)
    const counted_at = toIso(countedAt)
    return { path, folders: [], files: [], next: null, used_bytes: usedBytes, limit_bytes: limitBytes, counted_at }
  }
  const prefix = path === '' ? filesPrefix(folder) : `${keyOf(folder, path)}/`
  const [page, moves, usage] = await Promise.all([
    bucket.list({ prefix, delimiter: '/', after: input.after, ...(input.most && { most: input.most }) }),
    openMoves(ctx, userId),
    getUsageOfFiles(ctx, folder),
  ])
  // What is deleted doesn't count, and there is nothing else.
  const usedBytes = isLeaving(moves, '') ? 0 : usage.usedBytes
  const shown = (name: string) => !isLeaving(moves, path === '' ? name : `${path}/${name}`)
  return {
    path,
    folders: page.prefixes.map((key) => ({ name: nameOf(key.slice(0, -1)) })).filter(({ name }) => shown(name)),
    files: page.files
      // The folder itself, where someone made it before putting anything in it.
      .filter(({ key }) => key !== prefix)
      .map(({ key, size, modifiedAt }) => ({ name: nameOf(key), size, modified_at: toIso(modifiedAt) }))
      .filter(({ name }) => shown(name)),
    next: page.next,
    used_bytes: usedBytes,
    limit_bytes: usage.limitBytes,
    counted_at: toIso(usage.countedAt),
  }
}
