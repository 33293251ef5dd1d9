import { createHash, randomBytes } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import type { Context } from '../context.ts'

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

/** A link that a later sign-up ended. */
const isKilled = sql`purpose = 'confirm' AND expires_at = created_at`

export function hasKilledLinks(userId: SQL): SQL {
  return sql`EXISTS (SELECT 1 FROM email_tokens WHERE user_id = ${userId} AND ${isKilled})`
}

/** A killed link is kept as long as its address waits: mails to it warn of the later sign-up. */
export function forgetLinks(ctx: Pick<Context, 'db'>, endedBefore: number) {
  return ctx.db.run(sql`
    DELETE FROM email_tokens WHERE expires_at < ${endedBefore}
    AND NOT (${isKilled} AND EXISTS (SELECT 1 FROM users WHERE id = user_id AND confirmed_at IS NULL))`)
}

/** Ends the confirmation links of a user. Their rows stay for a while: a dead link still tells whom it was mailed to. */
export function killConfirmLinks(ctx: Pick<Context, 'db'>, userId: SQL) {
  return ctx.db.run(
    sql`UPDATE email_tokens SET expires_at = created_at WHERE user_id = ${userId} AND purpose = 'confirm'`,
  )
}
