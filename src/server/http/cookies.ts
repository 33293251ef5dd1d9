import type { Context as HonoContext } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { COOKIE_S } from '../../domain/retention.ts'
import type { AppEnv } from './app-env.ts'

/**
 * `sign_in`: who is signed in; `browser`: what CSRF tokens are bound to; `flash`: a message for the next
 * page; `back`: where signing in leads; `theme`: light or dark; `known`: accounts this browser has signed in to.
 */
export type CookieName = keyof typeof COOKIE_S | 'flash_1' | 'flash_2'

function attributes(c: HonoContext<AppEnv>) {
  const isHttps = c.var.ctx.config.origins[0]?.startsWith('https:') ?? false
  // The prefix implies Secure.
  return { path: '/', httpOnly: true, sameSite: 'Lax', ...(isHttps && ({ prefix: 'host' } as const)) } as const
}

export function readCookie(c: HonoContext<AppEnv>, name: CookieName): string | undefined {
  return 'prefix' in attributes(c) ? getCookie(c, name, 'host') : getCookie(c, name)
}

/** @param maxAge seconds, if it ends earlier than others of its name */
export function writeCookie(
  c: HonoContext<AppEnv>,
  name: CookieName,
  value: string,
  maxAge = COOKIE_S[name === 'flash_1' || name === 'flash_2' ? 'flash' : name],
): void {
  setCookie(c, name, value, { ...attributes(c), maxAge })
}

export function clearCookie(c: HonoContext<AppEnv>, name: CookieName): void {
  deleteCookie(c, name, attributes(c))
}
