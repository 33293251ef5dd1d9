import { isAddressable } from '../../domain/file-keys.ts'
import { nameOf, toFolder } from '../../domain/file-names.ts'
import { toIso } from '../../domain/instant.ts'
import type { FileList } from '../../domain/wire/files.ts'
import { limitPerson } from '../limits/limits.ts'
import { type Context, serversWithFiles } from '../runtime/context.ts'
import { findFolder, firstPage, keyOf, requireBucket, requirePath } from './folder.ts'
import { isGoing, openRemovals } from './removals.ts'
import { getUsageOf, getUsageOfFiles } from './usage.ts'

/**
 * One page of a folder, straight from the bucket. A folder that doesn't exist is empty: buckets know only files.
 * @throws invalid, too_many, unavailable
 */
export async function listFiles(
  ctx: Context,
  userId: string,
  input: { path: string; after: string | null; most?: number },
): Promise<FileList> {
  await limitPerson(ctx, 'files_list', userId)
  const bucket = requireBucket(ctx)
  const path = requirePath(input.path)
  const below = toFolder(path)
  // Reading makes no folder.
  const folder = await findFolder(ctx, userId)
  if (!folder) {
    const { usedBytes, limitBytes, countedAt } = await getUsageOf(ctx, userId)
    const used = { used_bytes: usedBytes, limit_bytes: limitBytes, counted_at: toIso(countedAt) }
    return { path, folders: [], files: [], deleting: [], next: null, on_servers: serversWithFiles(ctx), ...used }
  }
  const prefix = keyOf(folder, below)
  const [page, removals, usage] = await Promise.all([
    firstPage(bucket, { prefix, delimiter: '/', after: input.after, ...(input.most && { most: input.most }) }),
    openRemovals(ctx, userId),
    getUsageOfFiles(ctx, folder),
  ])
  const isShown = (key: string, modifiedAt?: number) => !isGoing(removals, below + key.slice(prefix.length), modifiedAt)
  return {
    path,
    folders: page.prefixes.filter((key) => isShown(key)).map((key) => ({ name: nameOf(key) })),
    files: page.files
      // The folder itself, as programs make one that has nothing in it yet.
      .filter(({ key, size, modifiedAt }) => isShown(key, modifiedAt) && (key !== prefix || size > 0))
      .map(({ key, size, modifiedAt }) => ({
        name: key.slice(prefix.length),
        size,
        modified_at: toIso(modifiedAt),
        ...(isAddressable(key) ? {} : { unaddressable: true as const }),
      })),
    deleting: removals.flatMap(({ place, filesLeft }) =>
      place === '' || place.startsWith('files/') ? [{ path: place.slice(6), files_left: filesLeft }] : [],
    ),
    next: page.next,
    on_servers: serversWithFiles(ctx),
    // Files that are being deleted don't count, and there is nothing else.
    used_bytes: removals.some(({ place }) => place === '') ? 0 : usage.usedBytes,
    limit_bytes: usage.limitBytes,
    counted_at: toIso(usage.countedAt),
  }
}
