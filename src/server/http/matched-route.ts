import type { Context as HonoContext } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { AppEnv } from './app-env.ts'
import { bearerOf } from './caller.ts'
import type { RouteFacts } from './route-table.ts'

/** The route whose handler will answer, whatever middleware runs before it. Null for a 404. */
export function matchedRoute(c: HonoContext<AppEnv>): string | null {
  const handler = matchedRoutes(c).find((route) => route.method !== 'ALL')
  return handler ? `${handler.method} ${handler.path}` : null
}

/** Null for a 404 and for a route that isn't in the table, which access.ts refuses. */
export function factsOf(c: HonoContext<AppEnv>): RouteFacts | null {
  return c.get('routes')?.facts[matchedRoute(c) ?? ''] ?? null
}

/** Whether a person, not a program, sees the answer. */
export function isPage(c: HonoContext<AppEnv>): boolean {
  if (bearerOf(c) !== null) return false
  const facts = factsOf(c)
  return facts ? facts.kind === 'page' : !c.req.path.startsWith('/api/')
}
