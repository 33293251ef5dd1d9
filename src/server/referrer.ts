import type { Context as HonoContext } from 'hono'
import type { AppEnv } from './app-env.ts'

/** The page of ours that led here, by the browser's word; never one that a browser would take for another site's (`//…`). */
export function findOwnReferrer(c: HonoContext<AppEnv>): string | null {
  try {
    const { origin, pathname, search } = new URL(c.req.header('Referer') ?? '')
    return c.var.ctx.config.origins.includes(origin) && !pathname.startsWith('//') ? pathname + search : null
  } catch {
    return null
  }
}
