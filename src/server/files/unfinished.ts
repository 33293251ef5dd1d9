import { and, eq, gt, isNotNull } from 'drizzle-orm'
import { type FileFolderRow, fileUploads } from '../../../db/schema.ts'
import { isAddressable } from '../../domain/file-keys.ts'
import { MAX_FILE_BYTES } from '../../domain/files.ts'
import { DAY_MS } from '../../domain/instant.ts'
import type { BegunUpload, UploadMarker } from '../ports/bucket.ts'
import type { Context } from '../runtime/context.ts'
import { fourAtOnce } from '../runtime/four-at-once.ts'
import { pagesOf } from './call-budget.ts'
import { filesPrefix, requireBucket } from './folder.ts'

/** How long someone may take to continue an upload in parts. The bucket's own rule must leave them this long. */
export const UPLOAD_DAYS = 7
/** Programs may have this many open below one folder; we end the oldest beyond them. */
const MOST_BY_PROGRAMS = 100
/** Of one look. */
const MOST_PAGES = 20
const MOST_ENDED = 500
/** Calls that list parts. */
const MOST_LISTING = 300

export type Unfinished = { bytes: number; byUpload: Map<string, { key: string; size: number }>; isAll: boolean }

/**
 * Looks at the uploads in parts that programs have begun and not ended: no list of files has them, and they are stored
 * all the same. Ends those that nobody continues. Of a key that no address can hold, we can neither list the parts nor
 * end the upload: the bucket's own rule does, and until then it counts as the largest file there can be.
 * @returns how many bytes the others have, and ours beyond what they count, also by the upload's id; and whether it has
 * dealt with all. What it hasn't counts as the largest file there can be as well.
 */
export async function lookAtUnfinished(ctx: Context, folder: FileFolderRow): Promise<Unfinished> {
  const bucket = requireBucket(ctx)
  const { begun, isAll, hasHidden } = await listBegun(ctx, filesPrefix(folder))
  // Those that we began count by their size.
  const own = await ctx.db
    .select({ uploadId: fileUploads.uploadId, size: fileUploads.size })
    .from(fileUploads)
    .where(
      and(eq(fileUploads.userId, folder.userId), isNotNull(fileUploads.uploadId), gt(fileUploads.expiresAt, ctx.now())),
    )
  const sizes = new Map(own.map(({ uploadId, size }) => [uploadId, size]))
  const others = begun.filter(({ uploadId }) => !sizes.has(uploadId)).sort((a, b) => b.begunAt - a.begunAt)
  const oldest = ctx.now() - UPLOAD_DAYS * DAY_MS
  const left = others.slice(0, MOST_BY_PROGRAMS).filter(({ begunAt }) => begunAt > oldest)
  const over = others.slice(left.length).reverse()
  await abortAll(ctx, over.slice(0, MOST_ENDED))
  let isDone = isAll && over.length <= MOST_ENDED
  let calls = 0
  const byUpload: Unfinished['byUpload'] = new Map()
  const counted = [...left, ...begun.filter(({ uploadId }) => sizes.has(uploadId))]
  await fourAtOnce(counted, async ({ key, uploadId }) => {
    if (calls >= MOST_LISTING) {
      isDone = false
      return
    }
    const parts = (await bucket.listParts(key, uploadId)) ?? []
    calls += pagesOf(parts.length)
    // A program with credentials may have sent larger ones, or more, to one of ours.
    const size = Math.max(0, sumOf(parts.map((part) => part.size)) - (sizes.get(uploadId) ?? 0))
    byUpload.set(uploadId, { key, size })
  })
  const bytes = sumOf([...[...byUpload.values()].map(({ size }) => size), hasHidden || !isDone ? MAX_FILE_BYTES : 0])
  return { bytes, byUpload, isAll: isDone }
}

/** Ends uploads in parts below a place that had begun by then, ours as well. @returns whether none is left */
export async function endUploads(ctx: Context, prefix: string, begunBy: number): Promise<boolean> {
  const { begun, isAll } = await listBegun(ctx, prefix)
  const due = begun.filter(({ begunAt }) => begunAt <= begunBy)
  await abortAll(ctx, due.slice(0, MOST_ENDED))
  // Beyond many pages of uploads that we can't end, there may be more, and files needn't wait for them.
  return due.length === 0 || (isAll && due.length <= MOST_ENDED)
}

/** Those that an address can hold, and whether there are others. */
async function listBegun(ctx: Context, prefix: string) {
  const begun: BegunUpload[] = []
  let hasHidden = false
  let after: UploadMarker | null = null
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const { uploads, next } = await requireBucket(ctx).listUploads(prefix, after)
    const found = uploads.filter(({ key }) => isAddressable(key))
    begun.push(...found)
    hasHidden ||= found.length < uploads.length
    after = next
    if (after === null) break
  }
  return { begun, isAll: after === null, hasHidden }
}

export const sumOf = (sizes: number[]) => sizes.reduce((sum, size) => sum + size, 0)

function abortAll(ctx: Context, uploads: BegunUpload[]): Promise<void> {
  const bucket = requireBucket(ctx)
  return fourAtOnce(uploads, ({ key, uploadId }) => bucket.abortParts(key, uploadId))
}
