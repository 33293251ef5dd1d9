import { AppError } from '../../domain/error.ts'
import { changedMeanwhile } from '../../domain/files.ts'
import type { Context } from '../runtime/context.ts'
import { unreachable } from './folder.ts'
import { requestUpload } from './upload.ts'

const TIMEOUT_MS = 60_000

/**
 * Stores a file that a browser without script sent to us: we use the link that we would have given it.
 * @throws invalid, also if it doesn't fit; conflict, unavailable
 */
export async function uploadThrough(
  ctx: Context,
  userId: string,
  { path, content }: { path: string; content: ArrayBuffer },
): Promise<{ path: string }> {
  const upload = await requestUpload(ctx, userId, { path, size: content.byteLength })
  const { url, method, headers } = upload
  const answer = await fetch(url, {
    method,
    headers,
    body: content,
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((cause) => {
    throw unreachable(cause)
  })
  // What the link may replace has changed, or is gone.
  if (answer.status === 412 || answer.status === 404) throw new AppError('conflict', changedMeanwhile(upload.path))
  if (!answer.ok) throw unreachable(new Error(`The bucket answered ${answer.status}`))
  return { path: upload.path }
}
