import { isSignature, type KeyPurpose, signatureOf } from './keys.ts'

type Signer = { config: { secretKey: string }; now: () => number }

/** A cookie's value that only we can write, and only for this purpose. Anyone can read it. */
export function sign(ctx: Pick<Signer, 'config'>, purpose: KeyPurpose, content: object): string {
  const payload = Buffer.from(JSON.stringify(content)).toString('base64url')
  return `${payload}.${signatureOf(ctx.config.secretKey, purpose, payload).toString('base64url')}`
}

/** Null if we didn't sign it, or once `expires` (ms) has passed. */
export function readSigned<T>(ctx: Signer, purpose: KeyPurpose, cookie: string): T | null {
  const [payload, signature] = cookie.split('.')
  const given = Buffer.from(signature ?? '', 'base64url')
  if (!payload || !isSignature(given, ctx.config.secretKey, purpose, payload)) return null
  const { expires, ...content } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as T & { expires: number }
  return expires > ctx.now() ? (content as T) : null
}
