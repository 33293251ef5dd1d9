import { createMiddleware } from 'hono/factory'
import { bindLog, type Log } from '../../settings/log.ts'
import type { AppEnv } from '../app-env.ts'

/**
 * Sent in the answer and logged on every line of the request. Never taken from the request, so that clients
 * can't write to our log.
 */
export const requestId = (log: Log) =>
  createMiddleware<AppEnv>(async (c, next) => {
    const id = crypto.randomUUID()
    c.set('requestId', id)
    c.set('log', bindLog(log, { requestId: id }))
    c.header('X-Request-Id', id)
    await next()
  })
