import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Context as HonoContext } from 'hono'
import type { FlashMessage } from '../../ui/FlashAlert.tsx'
import { deriveKeys } from '../keys.ts'
import type { AppEnv } from './app-env.ts'
import { clearCookie, readCookie, writeCookie } from './cookies.ts'

const LIFETIME_S = 60
/** A browser allows 4096 bytes per cookie, attributes included; a long contact message takes three. */
const NAMES = ['flash', 'flash_1', 'flash_2'] as const
const PART = 3_800

/**
 * Signed, so that nobody can put words in our mouth. If the cookies would still be too long, drops the typed
 * values.
 */
export function setFlash(c: HonoContext<AppEnv>, flash: FlashMessage): void {
  const expires = c.var.ctx.now() + LIFETIME_S * 1000
  let cookie = sign(c, JSON.stringify({ ...flash, expires }))
  if (cookie.length > PART * NAMES.length) cookie = sign(c, JSON.stringify({ ...flash, values: {}, expires }))
  NAMES.forEach((name, i) => {
    const part = cookie.slice(i * PART, (i + 1) * PART)
    if (part) writeCookie(c, name, part, LIFETIME_S)
    else if (readCookie(c, name)) clearCookie(c, name)
  })
}

/**
 * Reads and clears the message. The first caller gets it: a page that shows it in its own place, otherwise
 * the page's frame. Prefetches and HEAD requests leave it for the page that a person sees.
 */
export function takeFlash(c: HonoContext<AppEnv>): FlashMessage | null {
  const isSeen = c.req.method !== 'HEAD' && !c.req.header('Sec-Purpose')?.startsWith('prefetch')
  if (c.get('flashTaken') || !isSeen) return null
  c.set('flashTaken', true)
  const parts = NAMES.map((name) => readCookie(c, name) ?? '')
  NAMES.forEach((name, i) => {
    if (parts[i]) clearCookie(c, name)
  })
  const [payload, signature] = parts.join('').split('.')
  if (!payload || !signature || !isSigned(c, payload, signature)) return null
  const { expires, ...flash } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as FlashMessage & {
    expires: number
  }
  return expires > c.var.ctx.now() ? flash : null
}

function sign(c: HonoContext<AppEnv>, json: string): string {
  const payload = Buffer.from(json).toString('base64url')
  return `${payload}.${mac(deriveKeys(c.var.ctx.config.secretKey, 'flash')[0].key, payload).toString('base64url')}`
}

function isSigned(c: HonoContext<AppEnv>, payload: string, signature: string): boolean {
  const given = Buffer.from(signature, 'base64url')
  return deriveKeys(c.var.ctx.config.secretKey, 'flash').some(({ key }) => {
    const expected = mac(key, payload)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

function mac(key: Uint8Array, payload: string): Buffer {
  return createHmac('sha256', key).update(payload).digest()
}
