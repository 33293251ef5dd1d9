import { createHash, randomInt } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../../db/client.ts'
import { newRecoveryCode, normalRecoveryCode, RECOVERY_CODES } from '../../../domain/factor.ts'
import { factorMail } from '../../mail/factor-letters.ts'
import { deliverMail, mailQuery } from '../../mail/outbox.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'

/** It has so many random bits that a fast hash keeps it safe. */
function hashRecoveryCode(code: string): string {
  return createHash('sha256').update(code).digest('base64url')
}

/**
 * New codes, and the writes that replace the account's earlier ones with them.
 * @param when an SQL condition
 */
export function newRecoveryCodes(
  ctx: Pick<Context, 'db' | 'now'>,
  userId: string,
  when: SQL,
): { codes: string[]; queries: Query[] } {
  const codes = Array.from({ length: RECOVERY_CODES }, () => newRecoveryCode(randomInt))
  const hashes = JSON.stringify(codes.map((code) => hashRecoveryCode(normalRecoveryCode(code))))
  return {
    codes,
    queries: [
      ctx.db.run(sql`DELETE FROM recovery_codes WHERE user_id = ${userId} AND ${when}`),
      ctx.db.run(sql`INSERT INTO recovery_codes (user_id, hash, created_at)
        SELECT ${userId}, value, ${ctx.now()} FROM json_each(${hashes}) WHERE ${when}`),
    ],
  }
}

/** Uses a code up, and emails its owner. False: it isn't theirs, or was used before. */
export async function spendRecoveryCode(ctx: Context, userId: string, code: string): Promise<boolean> {
  const hash = hashRecoveryCode(code)
  const theirs = sql`user_id = ${userId} AND hash = ${hash}`
  const [used] = await writeBatch(ctx.db, [
    ctx.db.run(sql`UPDATE recovery_codes SET used_at = ${ctx.now()} WHERE ${theirs} AND used_at IS NULL`),
    mailQuery(
      ctx,
      sql`(SELECT email FROM users WHERE id = ${userId})`,
      factorMail(siteOrigin(ctx), 'code_used'),
      sql`EXISTS (SELECT 1 FROM recovery_codes WHERE ${theirs} AND used_at IS NOT NULL)`,
      `recovery code ${userId} ${hash}`,
    ),
  ])
  if (!used?.rowsAffected) return false
  ctx.background(deliverMail(ctx))
  return true
}
