import { AppError } from '../../domain/error.ts'
import { MAX_SINGLE_UPLOAD, sizeText, typeOfFile } from '../../domain/files.ts'
import { MINUTE_MS, toIso } from '../../domain/instant.ts'
import type { FileUpload } from '../../domain/wire/files.ts'
import { limitPerson } from '../limits/limits.ts'
import type { Context } from '../runtime/context.ts'
import { keyOf, openFolder, requireBucket, requireNewPath } from './folder.ts'
import { enterUpload } from './open-uploads.ts'
import { refuseFileAsFolder, refuseFolderAsFile } from './taken.ts'
import { openQuery } from './usage.ts'

/** An upload must begin within this time; once begun, it may take longer. */
const LINK_SECONDS = 15 * 60

/**
 * A link that takes this file once, straight into the bucket.
 * @throws invalid, also if it doesn't fit; conflict, too_many, unavailable
 */
export async function requestUpload(
  ctx: Context,
  userId: string,
  input: { path: string; size: number },
): Promise<FileUpload> {
  await limitPerson(ctx, 'files_change', userId)
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
  if (size > MAX_SINGLE_UPLOAD)
    throw new AppError('invalid', `One upload can have ${sizeText(MAX_SINGLE_UPLOAD)}. Send larger files in parts.`, {
      field: 'size',
    })
  const expiresAt = ctx.now() + LINK_SECONDS * 1000
  // The upload may end later than its link does.
  const endsAt = expiresAt + 15 * MINUTE_MS
  await openQuery(ctx, userId, endsAt)
  // Written down before the link exists, so that a lost answer counts as given.
  const replaces = existing?.etag ?? null
  await enterUpload(ctx, folder, { path, size, existing, replaces, version: null, expiresAt: endsAt })
  const signed = await bucket.signUpload(key, {
    seconds: LINK_SECONDS,
    size,
    type: typeOfFile(path),
    replaces,
  })
  const { url, method, headers } = signed
  return { url, method, headers, path, expires_at: toIso(signed.expiresAt) }
}

export function requireSize(size: number): number {
  if (Number.isSafeInteger(size) && size >= 0) return size
  throw new AppError('invalid', 'The size must be a whole number of bytes.', { field: 'size' })
}
