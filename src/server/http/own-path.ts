import type { Context as HonoContext } from 'hono'
import type { AppEnv } from './app-env.ts'

/** The path for a link to this page; null if a browser would read it as another site's (`//…`). */
export function findOwnPath({ pathname, search }: URL): string | null {
  return pathname.startsWith('//') ? null : pathname + search
}

/** Our page that the browser says it came from. */
export function findOwnReferrer(c: HonoContext<AppEnv>): string | null {
  try {
    const referrer = new URL(c.req.header('Referer') ?? '')
    return c.var.ctx.config.origins.includes(referrer.origin) ? findOwnPath(referrer) : null
  } catch {
    return null
  }
}
