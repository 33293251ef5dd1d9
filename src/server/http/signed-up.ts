import type { Context as HonoContext } from 'hono'
import { COOKIE_S } from '../../domain/retention.ts'
import { readSigned, sign } from '../crypto/signed-cookie.ts'
import type { AppEnv } from './app-env.ts'
import { clearCookie, readCookie, writeCookie } from './cookies.ts'
import { tagOf } from './known-device.ts'
import { hasWayBack } from './way-back.ts'

/**
 * Marks this browser as the one that chose this password. It names only the hash's salt, so it's the same for an address
 * that already has an account, and useless once another password counts.
 */
export function rememberSignUp(c: HonoContext<AppEnv>, passwordHash: string): void {
  const { ctx } = c.var
  const expires = ctx.now() + COOKIE_S.sign_up * 1000
  writeCookie(c, 'sign_up', sign(ctx, 'sign-up', { tag: tagFor(passwordHash), expires }))
}

/**
 * Whether the link that confirms the address may also sign in this browser: it chose the password within the hour,
 * nobody is signed in, and signing in by hand wouldn't lead back to a page of theirs.
 */
export function takeSignUp(c: HonoContext<AppEnv>, passwordHash: string): boolean {
  const signedUp = readSigned<{ tag: string }>(c.var.ctx, 'sign-up', readCookie(c, 'sign_up') ?? '')
  if (signedUp?.tag !== tagFor(passwordHash) || c.var.signIn || hasWayBack(c)) return false
  clearCookie(c, 'sign_up')
  return true
}

const tagFor = (passwordHash: string) => tagOf({ passwordHash, hasFactor: false })
