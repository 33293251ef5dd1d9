import { and, eq, gt, isNotNull, sql } from 'drizzle-orm'
import { fileUploads } from '../../../db/schema/files.ts'
import type { FilesReadOnly } from '../../domain/files.ts'
import type { CredentialsMode, TemporaryCredentials } from '../ports/bucket.ts'
import type { Context } from '../runtime/context.ts'
import { filesPrefix, openFolder, requireBucket } from './folder.ts'
import { getUsageNow, getUsageOf, openQuery } from './usage.ts'

/** Whether this person may change their files now, and if not, why. */
type FilesMode = { mode: CredentialsMode; why: FilesReadOnly | null; isLimited: boolean }

/** How a run mounts their files, decided when it starts. */
export async function filesModeOf(ctx: Context, userId: string): Promise<FilesMode> {
  const isOpen = and(isNotNull(fileUploads.uploadId), gt(fileUploads.expiresAt, ctx.now()))
  const [{ usedBytes, limitBytes, readOnly }, [promised]] = await Promise.all([
    getUsageOf(ctx, userId, getUsageNow),
    // All of its parts may be there, and no count includes them.
    ctx.db
      .select({ bytes: sql<number>`coalesce(sum(${fileUploads.counts}), 0)` })
      .from(fileUploads)
      .where(and(eq(fileUploads.userId, userId), isOpen)),
  ])
  const bytes = usedBytes + (promised?.bytes ?? 0)
  const why = readOnly ?? (limitBytes !== null && bytes >= limitBytes ? 'full' : null)
  return { mode: why === null ? 'write' : 'read', why, isLimited: limitBytes !== null }
}

export type FilesCredentials = TemporaryCredentials & {
  bucket: string
  prefix: string
  endpoint: string
  region: string
}

/**
 * Credentials for someone's own files and nothing else. They can't be revoked, so request short ones.
 * @throws unavailable
 */
export async function issueFilesCredentials(
  ctx: Context,
  userId: string,
  { mode, seconds }: { mode: CredentialsMode; seconds: number },
): Promise<FilesCredentials> {
  const bucket = requireBucket(ctx)
  const folder = await openFolder(ctx, userId)
  const prefix = filesPrefix(folder)
  const issued = await bucket.temporaryCredentials(prefix, mode, seconds)
  if (mode === 'write') await openQuery(ctx, userId, issued.expiresAt)
  const { endpoint, region, bucket: name } = ctx.config.files ?? { endpoint: '', region: '', bucket: '' }
  return { ...issued, bucket: name, prefix, endpoint, region }
}
