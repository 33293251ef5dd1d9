import { createHash, randomBytes } from 'node:crypto'

export const CONFIRM_LIFETIME_MS = 24 * 3_600_000
export const RESET_LIFETIME_MS = 3_600_000

/** 256 random bits for a link in a mail; only the hash is kept. */
export function newEmailToken(): { token: string; hash: string } {
  const token = randomBytes(32).toString('base64url')
  return { token, hash: hashEmailToken(token) }
}

export function hashEmailToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}
