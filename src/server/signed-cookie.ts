import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Context } from './context.ts'
import { deriveKeys, type KeyPurpose } from './keys.ts'

/** A cookie's value that only we can write, and only for this purpose. Anyone can read it. */
export function sign(ctx: Pick<Context, 'config'>, purpose: KeyPurpose, content: object): string {
  const payload = Buffer.from(JSON.stringify(content)).toString('base64url')
  return `${payload}.${mac(deriveKeys(ctx.config.secretKey, purpose)[0].key, payload).toString('base64url')}`
}

/** Null if we didn't sign it, or once `expires` (ms) has passed. */
export function readSigned<T>(ctx: Pick<Context, 'config' | 'now'>, purpose: KeyPurpose, cookie: string): T | null {
  const [payload, signature] = cookie.split('.')
  if (!payload || !signature || !isSigned(ctx, purpose, payload, signature)) return null
  const { expires, ...content } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as T & { expires: number }
  return expires > ctx.now() ? (content as T) : null
}

function isSigned(ctx: Pick<Context, 'config'>, purpose: KeyPurpose, payload: string, signature: string): boolean {
  const given = Buffer.from(signature, 'base64url')
  return deriveKeys(ctx.config.secretKey, purpose).some(({ key }) => {
    const expected = mac(key, payload)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

function mac(key: Uint8Array, payload: string): Buffer {
  return createHmac('sha256', key).update(payload).digest()
}
