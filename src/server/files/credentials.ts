import { AppError } from '../../domain/error.ts'
import { FILES_READ_ONLY } from '../../domain/files.ts'
import { toIso } from '../../domain/instant.ts'
import type { FilesAccess } from '../../domain/wire.ts'
import type { Context } from '../context.ts'
import type { CredentialsMode } from '../ports/bucket.ts'
import { filesModeOf, issueFilesCredentials } from './mode.ts'

const SECONDS = 3600

/** For an hour, for a person's own tools. @throws conflict: they may only read now; unavailable */
export async function giveCredentials(ctx: Context, userId: string, mode: CredentialsMode): Promise<FilesAccess> {
  const { why } = await filesModeOf(ctx, userId)
  if (mode === 'write' && why !== null) throw new AppError('conflict', FILES_READ_ONLY[why], { page: '/files' })
  const given = await issueFilesCredentials(ctx, userId, { mode, seconds: SECONDS })
  return {
    access_key_id: given.accessKeyId,
    secret_access_key: given.secretAccessKey,
    session_token: given.sessionToken,
    expires_at: toIso(given.expiresAt),
    endpoint: given.endpoint,
    region: given.region,
    bucket: given.bucket,
    prefix: given.prefix,
    mode,
  }
}
