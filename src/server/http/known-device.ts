import { createHash, randomBytes } from 'node:crypto'
import type { Context as HonoContext } from 'hono'
import { saltOf } from '../accounts/credentials/password.ts'
import type { Attempt, Proved } from '../accounts/new-sign-in.ts'
import { isSignature, signatureOf } from '../crypto/keys.ts'
import type { AppEnv } from './app-env.ts'
import { callerOf } from './caller.ts'
import { readCookie, writeCookie } from './cookies.ts'

const MOST_ACCOUNTS = 4

/** Where this browser signs in from, and the mark that makes it known. */
export function attemptOf(c: HonoContext<AppEnv>): Attempt {
  return { ...callerOf(c), knownDevice: (email, proved) => knownDevice(c, email, proved) }
}

/**
 * This browser's id for an account that it has signed in to before, otherwise null. We count guesses from
 * such a device separately, so that strangers' guesses never lock the owner out.
 */
function knownDevice(c: HonoContext<AppEnv>, email: string, proved: Proved): string | null {
  const mark = marks(c).find((one) => isFor(c, one, email) && one.split('.')[1] === tagOf(proved))
  return mark?.split('.')[0] ?? null
}

/** Marks this browser as the account owner's. Uses a new id each time, which resets the count of guesses. */
export function rememberDevice(c: HonoContext<AppEnv>, email: string, proved: Proved): void {
  const id = `${randomBytes(12).toString('base64url')}.${tagOf(proved)}`
  const mark = `${id}.${signatureOf(c.var.ctx.config.secretKey, 'device', `${id}\n${email}`).toString('base64url')}`
  const others = marks(c).filter((other) => !isFor(c, other, email))
  writeCookie(c, 'known', [mark, ...others].slice(0, MOST_ACCOUNTS).join('~'))
}

/** Newer passwords and factors end a mark. Otherwise, someone who once knew the password could collect marks, and guess with each. */
function tagOf({ passwordHash, hasFactor }: Proved): string {
  return createHash('sha256')
    .update(`${saltOf(passwordHash)} ${hasFactor}`)
    .digest('base64url')
    .slice(0, 16)
}

function isFor(c: HonoContext<AppEnv>, mark: string, email: string): boolean {
  const [id, tag, mac = ''] = mark.split('.')
  return isSignature(Buffer.from(mac, 'base64url'), c.var.ctx.config.secretKey, 'device', `${id}.${tag}\n${email}`)
}

function marks(c: HonoContext<AppEnv>): string[] {
  return (readCookie(c, 'known') ?? '').split('~').filter(Boolean).slice(0, MOST_ACCOUNTS)
}
