import { randomBytes } from 'node:crypto'
import type { Context as HonoContext } from 'hono'
import { isSignature, signatureOf } from '../crypto/keys.ts'
import type { AppEnv } from './app-env.ts'
import { readCookie, writeCookie } from './cookies.ts'

const MOST_ACCOUNTS = 4

/**
 * This browser's id for an account that it has signed in to before, otherwise null. We count guesses from
 * such a device separately, so that strangers' guesses never lock the owner out.
 */
export function knownDevice(c: HonoContext<AppEnv>, email: string): string | null {
  for (const mark of marks(c)) if (isFor(c, mark, email)) return mark.split('.')[0] ?? null
  return null
}

/** Marks this browser as the account owner's. Uses a new id each time, which resets the count of guesses. */
export function rememberDevice(c: HonoContext<AppEnv>, email: string): void {
  const id = randomBytes(12).toString('base64url')
  const mark = `${id}.${signatureOf(c.var.ctx.config.secretKey, 'device', `${id}\n${email}`).toString('base64url')}`
  const others = marks(c).filter((other) => !isFor(c, other, email))
  writeCookie(c, 'known', [mark, ...others].slice(0, MOST_ACCOUNTS).join('~'))
}

function isFor(c: HonoContext<AppEnv>, mark: string, email: string): boolean {
  const [id, mac] = mark.split('.')
  const given = Buffer.from(mac ?? '', 'base64url')
  return Boolean(id) && isSignature(given, c.var.ctx.config.secretKey, 'device', `${id}\n${email}`)
}

function marks(c: HonoContext<AppEnv>): string[] {
  return (readCookie(c, 'known') ?? '').split('~').filter(Boolean).slice(0, MOST_ACCOUNTS)
}
