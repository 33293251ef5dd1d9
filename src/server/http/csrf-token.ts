import { randomBytes } from 'node:crypto'
import { MASKED_LENGTH, personOfToken } from '../../domain/page-token.ts'
import { isSignature, signatureOf } from '../crypto/keys.ts'

const BYTES = 32

export function newBrowserId(): string {
  return randomBytes(18).toString('base64url')
}

/**
 * Bound to a browser and to the person that its page shows (null: nobody). Masked with fresh random bytes, so that a
 * compressed page never repeats the secret (BREACH). The person's ID is readable, as it is on the page.
 */
export function issueToken(secretKey: string, browserId: string, userId: string | null): string {
  const mask = randomBytes(BYTES)
  const secret = signatureOf(secretKey, 'csrf', boundTo(browserId, userId))
  return Buffer.concat([mask, xor(mask, secret)]).toString('base64url') + (userId ?? '')
}

/** Who the page shows that got this token; null if this browser never got it. */
export function readToken(secretKey: string, browserId: string, token: string): { userId: string | null } | null {
  const bytes = Buffer.from(token.slice(0, MASKED_LENGTH), 'base64url')
  const userId = personOfToken(token) || null
  if (bytes.length !== 2 * BYTES) return null
  const unmasked = xor(bytes.subarray(0, BYTES), bytes.subarray(BYTES))
  return isSignature(unmasked, secretKey, 'csrf', boundTo(browserId, userId)) ? { userId } : null
}

/** Browser IDs have no line breaks. */
const boundTo = (browserId: string, userId: string | null) => `${browserId}\n${userId ?? ''}`

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, i) => byte ^ (b[i] ?? 0)))
}
