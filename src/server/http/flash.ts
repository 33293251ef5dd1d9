import type { Context as HonoContext } from 'hono'
import { COOKIE_S } from '../../domain/retention.ts'
import { COOKIES_BLOCKED } from '../../domain/user.ts'
import type { FlashMessage } from '../../ui/FlashAlert.tsx'
import { readSigned, sign } from '../crypto/signed-cookie.ts'
import type { AppEnv } from './app-env.ts'
import { clearCookie, readCookie, writeCookie } from './cookies.ts'

/** A browser allows 4096 bytes per cookie, attributes included; a long contact message takes three. */
const NAMES = ['flash', 'flash_1', 'flash_2'] as const
const PART = 3_800

/** Signed, so that nobody can put words in our mouth. If the cookies would still be too long, omits the typed values. */
export function setFlash(c: HonoContext<AppEnv>, flash: FlashMessage): void {
  const expires = c.var.ctx.now() + COOKIE_S.flash * 1000
  let cookie = sign(c.var.ctx, 'flash', { ...flash, expires })
  if (cookie.length > PART * NAMES.length) cookie = sign(c.var.ctx, 'flash', { ...flash, values: {}, expires })
  NAMES.forEach((name, i) => {
    const part = cookie.slice(i * PART, (i + 1) * PART)
    if (part) writeCookie(c, name, part)
    else if (readCookie(c, name)) clearCookie(c, name)
  })
}

/**
 * Reads and clears the message. The first caller gets it: a page that shows it in its own place, otherwise the page's
 * frame. Prefetches and HEAD requests leave it for the page that a person sees.
 */
export function takeFlash(c: HonoContext<AppEnv>): FlashMessage | null {
  if (c.get('flashTaken') || !isSeen(c)) return null
  c.set('flashTaken', true)
  if (sendsNoCookies(c)) return { kind: 'danger', message: COOKIES_BLOCKED }
  const parts = NAMES.map((name) => readCookie(c, name) ?? '')
  NAMES.forEach((name, i) => {
    if (parts[i]) clearCookie(c, name)
  })
  const flash = readSigned<FlashMessage>(c.var.ctx, 'flash', parts.join(''))
  // Someone may have signed in again while a page that said why they couldn't see it was on its way.
  return flash?.kind === 'info' && flash.code === 'unauthenticated' && c.var.signIn ? null : flash
}

const ASKED = 'cookies'

/** The page after a form that came without our cookies. If the browser doesn't keep the new ones either, it says so. */
export function askForCookies(page: string): string {
  const [path = '', part] = page.split('#')
  return `${path}${path.includes('?') ? '&' : '?'}${ASKED}${part ? `#${part}` : ''}`
}

/** Right after that form: its answer set cookies. */
function sendsNoCookies(c: HonoContext<AppEnv>): boolean {
  const isNext = c.req.query(ASKED) !== undefined && c.req.header('Sec-Fetch-Site') !== 'none'
  return isNext && !hasFlash(c) && !readCookie(c, 'browser')
}

/** Whether a message waits for the next page. */
export function hasFlash(c: HonoContext<AppEnv>): boolean {
  return NAMES.some((name) => readCookie(c, name))
}

/** Whether a person sees the answer, not only their browser or a mail scanner. */
export function isSeen(c: HonoContext<AppEnv>): boolean {
  return c.req.method !== 'HEAD' && !isPrefetch(c)
}

export function isPrefetch(c: HonoContext<AppEnv>): boolean {
  return c.req.header('Sec-Purpose')?.startsWith('prefetch') ?? false
}
