import { and, eq, isNotNull } from 'drizzle-orm'
import { type FileFolderRow, fileUploads } from '../../../db/schema.ts'
import { isAddressable } from '../../domain/file-keys.ts'
import { DAY_MS } from '../../domain/instant.ts'
import type { Context } from '../context.ts'
import { fourAtOnce } from '../four-at-once.ts'
import type { BegunUpload } from '../ports/bucket.ts'
import { filesPrefix, requireBucket } from './folder.ts'

/** How long someone may take to continue an upload in parts. The bucket's own rule must leave them this long. */
export const UPLOAD_DAYS = 7
/** Programs may have this many open below one folder; we end the oldest beyond them. */
const MOST_BY_PROGRAMS = 100

/**
 * Looks at the uploads in parts that programs have begun and not ended: no list of files has them, and they are stored
 * all the same. Ends those that nobody continues. Of a key that no address can hold, we can neither list the parts nor
 * end the upload: the bucket's own rule does.
 * @returns how many bytes the others have
 */
export async function lookAtUnfinished(ctx: Context, folder: FileFolderRow): Promise<number> {
  const bucket = requireBucket(ctx)
  const begun = await bucket.listUploads(filesPrefix(folder))
  if (begun.length === 0) return 0
  // Those that we began count by their size.
  const own = await ctx.db
    .select({ uploadId: fileUploads.uploadId })
    .from(fileUploads)
    .where(and(eq(fileUploads.userId, folder.userId), isNotNull(fileUploads.uploadId)))
  const known = new Set(own.map(({ uploadId }) => uploadId))
  const others = begun
    .filter(({ key, uploadId }) => isAddressable(key) && !known.has(uploadId))
    .sort((a, b) => b.begunAt - a.begunAt)
  const oldest = ctx.now() - UPLOAD_DAYS * DAY_MS
  const left = others.slice(0, MOST_BY_PROGRAMS).filter(({ begunAt }) => begunAt > oldest)
  await abortAll(
    ctx,
    others.filter((one) => !left.includes(one)),
  )
  let bytes = 0
  await fourAtOnce(left, async ({ key, uploadId }) => {
    for (const { size } of (await bucket.listParts(key, uploadId)) ?? []) bytes += size
  })
  return bytes
}

/** Ends all uploads in parts below a place that had begun by then, ours as well. @returns whether none is left */
export async function endUploads(ctx: Context, prefix: string, begunBy: number): Promise<boolean> {
  const begun = await requireBucket(ctx).listUploads(prefix)
  const due = begun.filter(({ key, begunAt }) => isAddressable(key) && begunAt <= begunBy)
  await abortAll(ctx, due)
  return due.length < 1000
}

function abortAll(ctx: Context, uploads: BegunUpload[]): Promise<void> {
  const bucket = requireBucket(ctx)
  return fourAtOnce(uploads, ({ key, uploadId }) => bucket.abortParts(key, uploadId))
}
