import type { Context as HonoContext } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { AppEnv } from './app-env.ts'

/** `POST /users/:id`, as it was registered: the handler that will answer, whatever middleware stands before it. Null for a 404. */
export function matchedRoute(c: HonoContext<AppEnv>): string | null {
  const handler = matchedRoutes(c).find((route) => route.method !== 'ALL')
  return handler ? `${handler.method} ${handler.path}` : null
}
