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
  const { address } = callerOf(c)
  if (!factsOf(c)?.signedBySender && !(await isWithinOuterLimit(c.env, address, (error) => logError(error, c))))
    throw new AppError('too_many', 'Too many requests from your network. Please try again in a minute.', {
      retryAfter: OUTER_PERIOD_S,
    })
  await next()
})

/** Counts a request from this address. Nobody counts loopback, or an address that we don't know. */
export async function isWithinOuterLimit(
  env: Pick<Env, 'OUTER_LIMIT'>,
  address: string | null,
  onError: (error: unknown) => void,
): Promise<boolean> {
  if (!address || isLoopback(address)) return true
  try {
    return (await env.OUTER_LIMIT?.limit({ key: connectionOf(address) }))?.success ?? true
  } catch (error) {
    onError(error)
    return true
  }
}
