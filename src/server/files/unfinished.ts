import { and, eq, gt, isNotNull } from 'drizzle-orm'
import { type FileFolderRow, fileUploads } from '../../../db/schema/files.ts'
import { isAddressable } from '../../domain/file-keys.ts'
import { MAX_FILE_BYTES } from '../../domain/files.ts'
import { DAY_MS } from '../../domain/instant.ts'
import type { BegunUpload, UploadMarker } from '../ports/bucket.ts'
import type { Context } from '../runtime/context.ts'
import { fourAtOnce } from '../runtime/four-at-once.ts'
import { pagesOf } from './call-budget.ts'
import { filesPrefix, requireBucket } from './folder.ts'

/** How long someone has to continue a multipart upload. The bucket's own rule must leave them this long. */
export const UPLOAD_DAYS = 7
/** Programs may have this many open below one folder. We end the oldest ones beyond that. */
const MOST_BY_PROGRAMS = 100
/** Per look. */
const MOST_PAGES = 20
const MOST_ENDED = 500
/** Calls that list parts. */
const MOST_LISTING = 300

export type Unfinished = { bytes: number; byUpload: Map<string, { key: string; size: number }>; isAll: boolean }

/**
 * Looks at the multipart uploads that programs have begun and not ended: no list of files includes them, but they are
 * stored. Ends abandoned ones. If no address can hold an upload's key, we can neither list its parts nor end it: the
 * bucket's own rule will, and until then it counts as the largest possible file.
 * @returns how many bytes the others have, and ours beyond what they count, also by upload ID; and whether it got
 * through all. Those it didn't reach also count as the largest possible file.
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
    // A program with credentials may have sent larger or more parts to one of ours.
    const size = Math.max(0, sumOf(parts.map((part) => part.size)) - (sizes.get(uploadId) ?? 0))
    byUpload.set(uploadId, { key, size })
  })
  const bytes = sumOf([...[...byUpload.values()].map(({ size }) => size), hasHidden || !isDone ? MAX_FILE_BYTES : 0])
  return { bytes, byUpload, isAll: isDone }
}

/** Ends multipart uploads below a place that had begun by then, including ours. @returns whether none is left */
export async function endUploads(ctx: Context, prefix: string, begunBy: number): Promise<boolean> {
  const { begun, isAll } = await listBegun(ctx, prefix)
  const due = begun.filter(({ begunAt }) => begunAt <= begunBy)
  await abortAll(ctx, due.slice(0, MOST_ENDED))
  // After many pages of uploads that we can't end, there may be more, but files needn't wait for them.
  return due.length === 0 || (isAll && due.length <= MOST_ENDED)
}

/** Those whose key an address can hold, and whether there are others. */
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
