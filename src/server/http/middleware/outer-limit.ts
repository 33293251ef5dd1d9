import type { Context as HonoContext } from 'hono'
import { createMiddleware } from 'hono/factory'
import { AppError } from '../../../domain/error.ts'
import { connectionOf } from '../../limits/network.ts'
import type { AppEnv } from '../app-env.ts'
import { callerOf } from '../caller.ts'
import { logError } from '../error-response.ts'
import { factsOf } from '../site-map.ts'

/** The platform's window; it doesn't say how much of it is left. */
const PERIOD_S = 60

/**
 * The platform's own count of requests per address, checked before any other work. It is approximate and
 * generous: exact limits follow later. If it fails, the request passes.
 */
export const outerLimit = createMiddleware<AppEnv>(async (c, next) => {
  const { address } = callerOf(c)
  if (address && !factsOf(c)?.signedBySender && !(await isWithin(c, connectionOf(address))))
    throw new AppError('too_many', 'Too many requests from your network. Please try again in a minute.', {
      retryAfter: PERIOD_S,
    })
  await next()
})

async function isWithin(c: HonoContext<AppEnv>, key: string): Promise<boolean> {
  try {
    return (await c.env.OUTER_LIMIT?.limit({ key }))?.success ?? true
  } catch (error) {
    logError(error, c)
    return true
  }
}
