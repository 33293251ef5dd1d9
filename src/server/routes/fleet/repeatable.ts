import { createHash } from 'node:crypto'
import type { Context as HonoContext } from 'hono'
import { AppError } from '../../../domain/error.ts'
import type { Repeatable } from '../../fleet/repeats.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { matchedRoute } from '../../http/matched-route.ts'

/**
 * What makes a call with the header Idempotency-Key repeatable; null without it.
 * @throws malformed
 */
export async function repeatableOf(c: HonoContext<AppEnv>): Promise<Repeatable | null> {
  const key = c.req.header('Idempotency-Key')
  if (key === undefined) return null
  if (!/^[\x20-\x7e]{1,255}$/.test(key))
    throw new AppError('malformed', 'An Idempotency-Key has 1 to 255 printable ASCII characters.')
  const digest = createHash('sha256')
    .update(`${matchedRoute(c)}\n${await c.req.text()}`)
    .digest('base64url')
  return { userId: signedIn(c).user.id, key, digest }
}
