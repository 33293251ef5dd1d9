import type { Context as HonoContext } from 'hono'
import type { AppEnv } from './app-env.ts'

/** What a link to this page of ours says; null for a path that a browser would take for another site's (`//…`). */
export function findOwnPath({ pathname, search }: URL): string | null {
  return pathname.startsWith('//') ? null : pathname + search
}

/** The page of ours that led here, by the browser's word. */
export function findOwnReferrer(c: HonoContext<AppEnv>): string | null {
  try {
    const referrer = new URL(c.req.header('Referer') ?? '')
    return c.var.ctx.config.origins.includes(referrer.origin) ? findOwnPath(referrer) : null
  } catch {
    return null
  }
}
