import { createMiddleware } from 'hono/factory'
import type { AppEnv } from '../app-env.ts'

/** Never taken from the request: what a client sends does not reach our log. */
export const requestId = createMiddleware<AppEnv>(async (c, next) => {
  const id = crypto.randomUUID()
  c.set('requestId', id)
  c.header('X-Request-Id', id)
  await next()
})
