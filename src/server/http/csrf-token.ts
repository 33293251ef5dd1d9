import { randomBytes } from 'node:crypto'
import { isSignature, signatureOf } from '../keys.ts'

const BYTES = 32

export function newBrowserId(): string {
  return randomBytes(18).toString('base64url')
}

/** Masked with fresh random bytes, so that a compressed page never repeats the secret (BREACH). */
export function issueToken(secretKey: string, browserId: string): string {
  const mask = randomBytes(BYTES)
  return Buffer.concat([mask, xor(mask, signatureOf(secretKey, 'csrf', browserId))]).toString('base64url')
}

export function verifyToken(secretKey: string, browserId: string, token: string): boolean {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length !== 2 * BYTES) return false
  const unmasked = xor(bytes.subarray(0, BYTES), bytes.subarray(BYTES))
  return isSignature(unmasked, secretKey, 'csrf', browserId)
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, i) => byte ^ (b[i] ?? 0)))
}
