import { createMiddleware } from 'hono/factory'
import { bindLog, type Log } from '../../log.ts'
import type { AppEnv } from '../app-env.ts'

/** In the answer and in each line of the request's log. Never taken from the request: what a client sends does not reach our log. */
export const requestId = (log: Log) =>
  createMiddleware<AppEnv>(async (c, next) => {
    const id = crypto.randomUUID()
    c.set('requestId', id)
    c.set('log', bindLog(log, { requestId: id }))
    c.header('X-Request-Id', id)
    await next()
  })
