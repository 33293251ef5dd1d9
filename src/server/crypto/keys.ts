import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

export type KeyPurpose =
  | 'sign-in'
  | 'csrf'
  | 'flash'
  | 'back'
  | 'device'
  | 'device-token'
  | 'webhook'
  | 'extend'
  | 'stop'
  | 'mail-off'
  | 'door'
  | 'door-port'
  | 'mailbox'
  | 'run'
  | 'secret'
  | 'totp'
  | 'passkey'
export type DerivedKey = { id: string; key: Uint8Array }

const derived = new Map<string, [DerivedKey, ...DerivedKey[]]>()

/**
 * The keys for one purpose, newest first: sign with the first, accept any. During a rotation SECRET_KEY holds
 * `new,old`. A key id identifies its secret without revealing it.
 */
export function deriveKeys(secretKey: string, purpose: KeyPurpose): [DerivedKey, ...DerivedKey[]] {
  const cacheKey = `${purpose}:${secretKey}`
  const known = derived.get(cacheKey)
  if (known) return known
  const keys = secretKey.split(',').map((secret) => {
    const key = new Uint8Array(hkdfSync('sha256', secret.trim(), 'proving-ground', purpose, 32))
    return { id: createHash('sha256').update(key).digest('base64url').slice(0, 12), key }
  }) as [DerivedKey, ...DerivedKey[]]
  derived.set(cacheKey, keys)
  return keys
}

/** The HMAC of this text, made with the newest key. */
export function signatureOf(secretKey: string, purpose: KeyPurpose, text: string): Buffer {
  return hmac(deriveKeys(secretKey, purpose)[0].key, text)
}

/** Whether any of the keys signed this text. */
export function isSignature(given: Buffer, secretKey: string, purpose: KeyPurpose, text: string): boolean {
  return deriveKeys(secretKey, purpose).some(({ key }) => {
    const right = hmac(key, text)
    return given.length === right.length && timingSafeEqual(given, right)
  })
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
