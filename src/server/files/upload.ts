import { writeBatch } from '../../../db/client.ts'
import { fileUploads } from '../../../db/schema.ts'
import { AppError } from '../../domain/error.ts'
import { FILES_READ_ONLY, MAX_SINGLE_UPLOAD, overLimit, sizeText, typeOfFile } from '../../domain/files.ts'
import { MINUTE_MS, toIso } from '../../domain/instant.ts'
import type { FileUpload } from '../../domain/wire.ts'
import type { Context } from '../context.ts'
import { newId } from '../id.ts'
import { keyOf, openFolder, requireBucket, requireNewPath } from './folder.ts'
import { refuseFileAsFolder, refuseFolderAsFile } from './taken.ts'
import { getUsageOfFiles, openQuery, promisedBytes } from './usage.ts'

/** An upload must begin within this time; once begun, it may take longer. */
const LINK_SECONDS = 15 * 60

/**
 * A link that takes this file once, straight into the bucket.
 * @throws invalid, also if it doesn't fit; conflict, unavailable
 */
export async function requestUpload(
  ctx: Context,
  userId: string,
  input: { path: string; size: number },
): Promise<FileUpload> {
  const bucket = requireBucket(ctx)
  const path = requireNewPath(input.path)
  const size = requireSize(input.size)
  const folder = await openFolder(ctx, userId)
  const key = keyOf(folder, path)
  const [existing] = await Promise.all([
    bucket.find(key),
    refuseFileAsFolder(bucket, folder, path),
    refuseFolderAsFile(bucket, folder, path),
  ])
  await requireRoom(ctx, folder, { path, size, replaced: existing?.size ?? 0 })
  if (size > MAX_SINGLE_UPLOAD)
    throw new AppError('invalid', `One upload can have ${sizeText(MAX_SINGLE_UPLOAD)}. Send larger files in parts.`, {
      field: 'size',
    })
  const expiresAt = ctx.now() + LINK_SECONDS * 1000
  // Written down before the link exists, so that a lost answer counts as given.
  await writeBatch(ctx.db, [
    ctx.db.insert(fileUploads).values({ id: newId('upl'), userId, path, size, createdAt: ctx.now(), expiresAt }),
    // The upload may end later than its link does.
    openQuery(ctx, userId, expiresAt + 15 * MINUTE_MS),
  ])
  const signed = await bucket.signUpload(key, {
    seconds: LINK_SECONDS,
    size,
    type: typeOfFile(path),
    replaces: existing?.etag ?? null,
  })
  return { ...signed, path, expires_at: toIso(expiresAt) }
}

export function requireSize(size: number): number {
  if (Number.isSafeInteger(size) && size >= 0) return size
  throw new AppError('invalid', 'The size must be a whole number of bytes.', { field: 'size' })
}

/**
 * A link may bring all that it names, so open links count as well, but only against a second limit as large as the
 * first: an upload that never came must not block the next one.
 */
export async function requireRoom(
  ctx: Context,
  folder: Parameters<typeof getUsageOfFiles>[1],
  { path, size, replaced }: { path: string; size: number; replaced: number },
): Promise<void> {
  const { usedBytes: used, limitBytes: limit, readOnly } = await getUsageOfFiles(ctx, folder)
  if (readOnly !== null) throw new AppError('no_plan', FILES_READ_ONLY[readOnly], { page: '/subscriptions' })
  if (limit === null) return
  const after = used - replaced + size
  if (after > limit) throw new AppError('invalid', overLimit({ used, limit, size }), { page: '/subscriptions' })
  if (after + (await promisedBytes(ctx, folder.userId, path)) > 2 * limit)
    throw new AppError(
      'invalid',
      `Your files use ${sizeText(used)} of ${sizeText(limit)}, and uploads that have begun may need the rest. Wait until they are done.`,
    )
}
