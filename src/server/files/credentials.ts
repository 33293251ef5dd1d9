import { AppError } from '../../domain/error.ts'
import { FILES_READ_ONLY } from '../../domain/files.ts'
import { toIso } from '../../domain/instant.ts'
import type { FilesAccess } from '../../domain/wire/files.ts'
import { limitPerson } from '../limits/limits.ts'
import type { CredentialsMode } from '../ports/bucket.ts'
import type { Context } from '../runtime/context.ts'
import { filesModeOf, issueFilesCredentials } from './mode.ts'

const SECONDS = 3600
/** Credentials can't be revoked, so where there is a limit, they must not last long enough to exceed it by much. */
const LIMITED_SECONDS = 15 * 60

/** For a person's own tools: an hour or more, or 15 minutes. @throws conflict: they may only read now; too_many, unavailable */
export async function giveCredentials(ctx: Context, userId: string, mode: CredentialsMode): Promise<FilesAccess> {
  await limitPerson(ctx, 'files_access', userId)
  const { why, isLimited } = await filesModeOf(ctx, userId)
  if (mode === 'write' && why !== null) throw new AppError('conflict', FILES_READ_ONLY[why], { page: '/files' })
  const given = await issueFilesCredentials(ctx, userId, {
    mode,
    seconds: mode === 'write' && isLimited ? LIMITED_SECONDS : SECONDS,
  })
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
