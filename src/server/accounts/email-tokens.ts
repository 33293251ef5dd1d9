import { createHash, randomBytes } from 'node:crypto'
import { and, eq, gt, isNull, type SQL, sql } from 'drizzle-orm'
import { emailTokens } from '../../../db/schema/accounts.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/instant.ts'
import type { Context } from '../runtime/context.ts'

/** How long each kind of mailed link is valid. */
const LIFETIME_MS = { confirm: DAY_MS, reset: HOUR_MS, factor: 10 * MINUTE_MS }
type Purpose = keyof typeof LIFETIME_MS

/** 256 random bits for a mailed link; we store only the hash. */
export function newEmailToken(): { token: string; hash: string } {
  const token = randomBytes(32).toString('base64url')
  return { token, hash: hashEmailToken(token) }
}

export function hashEmailToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

/** Stores a link for each account that matches `whose`, an SQL condition on `users`. */
export function keepLinkQuery(ctx: Pick<Context, 'db' | 'now'>, hash: string, purpose: Purpose, whose: SQL) {
  const now = ctx.now()
  return ctx.db.run(sql`
    INSERT INTO email_tokens (hash, user_id, purpose, created_at, expires_at)
    SELECT ${hash}, id, ${purpose}, ${now}, ${now + LIFETIME_MS[purpose]} FROM users WHERE ${whose}`)
}

/** An SQL condition for a valid link: a confirmation works repeatedly until it expires, the others once. */
export function isGoodLink(hash: string | SQL, purpose: Purpose, now: number) {
  const unused = purpose === 'confirm' ? undefined : isNull(emailTokens.usedAt)
  return and(eq(emailTokens.hash, hash), eq(emailTokens.purpose, purpose), gt(emailTokens.expiresAt, now), unused)
}

/** A link that a later sign-up killed. */
const isKilled = sql`purpose = 'confirm' AND expires_at = created_at`

export function hasKilledLinks(userId: SQL): SQL {
  return sql`EXISTS (SELECT 1 FROM email_tokens WHERE user_id = ${userId} AND ${isKilled})`
}

/** Keeps killed links while their address is unconfirmed: emails to it must warn of the later sign-up. */
export function forgetLinks(ctx: Pick<Context, 'db'>, endedBefore: number) {
  return ctx.db.run(sql`
    DELETE FROM email_tokens WHERE expires_at < ${endedBefore}
    AND NOT (${isKilled} AND EXISTS (SELECT 1 FROM users WHERE id = user_id AND confirmed_at IS NULL))`)
}

/** Ends a user's confirmation links. Their rows stay for a while: a dead link still identifies its address. */
export function killConfirmLinks(ctx: Pick<Context, 'db'>, userId: SQL) {
  return ctx.db.run(
    sql`UPDATE email_tokens SET expires_at = created_at WHERE user_id = ${userId} AND purpose = 'confirm'`,
  )
}
