import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Context as HonoContext } from 'hono'
import { deriveKeys, type KeyPurpose } from '../keys.ts'
import type { AppEnv } from './app-env.ts'

/** A cookie's value that only we can write, and only for this purpose. Anyone can read it. */
export function sign(c: HonoContext<AppEnv>, purpose: KeyPurpose, content: object): string {
  const payload = Buffer.from(JSON.stringify(content)).toString('base64url')
  return `${payload}.${mac(deriveKeys(c.var.ctx.config.secretKey, purpose)[0].key, payload).toString('base64url')}`
}

/** Null if we didn't sign it, or once `expires` (ms) has passed. */
export function readSigned<T>(c: HonoContext<AppEnv>, purpose: KeyPurpose, cookie: string): T | null {
  const [payload, signature] = cookie.split('.')
  if (!payload || !signature || !isSigned(c, purpose, payload, signature)) return null
  const { expires, ...content } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as T & { expires: number }
  return expires > c.var.ctx.now() ? (content as T) : null
}

function isSigned(c: HonoContext<AppEnv>, purpose: KeyPurpose, payload: string, signature: string): boolean {
  const given = Buffer.from(signature, 'base64url')
  return deriveKeys(c.var.ctx.config.secretKey, purpose).some(({ key }) => {
    const expected = mac(key, payload)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

function mac(key: Uint8Array, payload: string): Buffer {
  return createHmac('sha256', key).update(payload).digest()
}
