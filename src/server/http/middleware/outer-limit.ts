import type { Context as HonoContext } from 'hono'
import { createMiddleware } from 'hono/factory'
import { AppError } from '../../../domain/error.ts'
import { connectionOf, isLoopback } from '../../limits/network.ts'
import type { Env } from '../../settings/env.ts'
import type { AppEnv } from '../app-env.ts'
import { callerOf } from '../caller.ts'
import { logError } from '../error-response.ts'
import { factsOf } from '../matched-route.ts'

/** The platform's window; it doesn't say how much of it is left. */
export const OUTER_PERIOD_S = 60

/**
 * The platform's own count of requests per address, checked before any other work. It is approximate and
 * generous: exact limits follow later. If it fails, the request passes.
 */
export const outerLimit = createMiddleware<AppEnv>(async (c, next) => {
  const facts = factsOf(c)
  if (!facts?.signedBySender && !(facts?.countsCaller && isPlain(c)))
    await limitOuter(c.env, callerOf(c).address, (error) => logError(error, c))
  await next()
})

/** The most that a machine's proof and its few words take. */
export const MOST_PROOF_BYTES = 8 * 1024

/** Whether this costs no more than a look at the body until its handler counts it. Machines send no cookie. */
export function isPlain({ req }: HonoContext): boolean {
  if (req.header('Cookie') || req.header('Origin') || req.header('Authorization')) return false
  return Number(req.header('Content-Length')) <= MOST_PROOF_BYTES
}

/** As `isWithinOuterLimit`. @throws too_many */
export async function limitOuter(...given: Parameters<typeof isWithinOuterLimit>): Promise<void> {
  if (await isWithinOuterLimit(...given)) return
  throw new AppError('too_many', 'Too many requests from your network. Please try again in a minute.', {
    retryAfter: OUTER_PERIOD_S,
  })
}

/**
 * Counts a request. Loopback and unknown addresses don't count.
 * @param caller an address, or the machine or run that it has proven to be
 * @param what counted apart from all else that this caller sends
 */
export async function isWithinOuterLimit(
  env: Pick<Env, 'OUTER_LIMIT'>,
  caller: string | null,
  onError: (error: unknown) => void,
  what = '',
): Promise<boolean> {
  if (!caller || isLoopback(caller)) return true
  try {
    return (await env.OUTER_LIMIT?.limit({ key: what + connectionOf(caller) }))?.success ?? true
  } catch (error) {
    onError(error)
    return true
  }
}
