import type { Context as HonoContext } from 'hono'
import { createMiddleware } from 'hono/factory'
import { AppError } from '../../../domain/error.ts'
import type { AppEnv } from '../app-env.ts'
import { isFormPost } from '../form-post.ts'

/** Refuses a known path's other methods to everyone. We only know a form's method once we have read it. */
export const knownMethod = createMiddleware<AppEnv>(async (c, next) => {
  if (c.req.method === 'POST' && isFormPost(c)) return next()
  return answerOtherMethod(c) ?? next()
})

/** Answers OPTIONS with `Allow`. Null if the method works here, or nothing does. @throws method_not_allowed */
export function answerOtherMethod(c: HonoContext<AppEnv>): Response | null {
  const methods = c.var.routes.methodsAt(c.req.path)
  // HEAD is a GET whose answer has no body.
  if (!methods.length || methods.includes(c.req.method === 'HEAD' ? 'GET' : c.req.method)) return null
  const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
  c.header('Allow', allowed)
  if (c.req.method === 'OPTIONS') return c.body(null, 204)
  throw new AppError('method_not_allowed', `${c.req.method} doesn't work at this address. It takes ${allowed}.`)
}
