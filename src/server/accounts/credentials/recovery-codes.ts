import { createHash, randomInt } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import type { Query } from '../../../../db/client.ts'
import { recoveryCodes } from '../../../../db/schema/accounts.ts'
import { newRecoveryCode, normalRecoveryCode, RECOVERY_CODES } from '../../../domain/factor.ts'
import { factorMail } from '../../mail/factor-letters.ts'
import { mailQuery } from '../../mail/outbox.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'
import type { Checked } from './proven.ts'

/** It has so many random bits that a fast hash keeps it safe. */
function hashRecoveryCode(code: string): string {
  return createHash('sha256').update(code).digest('base64url')
}

/**
 * New codes, and the writes that replace the account's earlier ones with them.
 * @param when an SQL condition
 * @returns `made`: an SQL condition: these writes did it
 */
export function newRecoveryCodes(
  ctx: Pick<Context, 'db' | 'now'>,
  userId: string,
  when: SQL,
): { codes: string[]; made: SQL; queries: Query[] } {
  const codes = Array.from({ length: RECOVERY_CODES }, () => newRecoveryCode(randomInt))
  const hashes = codes.map((code) => hashRecoveryCode(normalRecoveryCode(code)))
  const made = sql`EXISTS (SELECT 1 FROM recovery_codes WHERE user_id = ${userId} AND hash = ${hashes[0]})`
  return {
    codes,
    made,
    queries: [
      ctx.db.run(sql`INSERT INTO recovery_codes (user_id, hash, created_at)
        SELECT ${userId}, value, ${ctx.now()} FROM json_each(${JSON.stringify(hashes)}) WHERE ${when}`),
      ctx.db.run(sql`DELETE FROM recovery_codes WHERE user_id = ${userId} AND ${made}
        AND hash NOT IN (SELECT value FROM json_each(${JSON.stringify(hashes)}))`),
    ],
  }
}

/** Using it up emails its owner. Null: it isn't theirs, or was used before. */
export async function checkRecoveryCode(ctx: Context, userId: string, code: string): Promise<Checked | null> {
  const hash = hashRecoveryCode(code)
  const theirs = sql`user_id = ${userId} AND hash = ${hash}`
  const unused = sql`EXISTS (SELECT 1 FROM recovery_codes WHERE ${theirs} AND used_at IS NULL)`
  const now = ctx.now()
  if (!(await ctx.db.$count(recoveryCodes, sql`${theirs} AND used_at IS NULL`))) return null
  return {
    holds: unused,
    spendQueries: (done) => [
      ctx.db.run(sql`UPDATE recovery_codes SET used_at = ${now} WHERE ${theirs} AND used_at IS NULL AND ${done}`),
      mailQuery(
        ctx,
        sql`(SELECT email FROM users WHERE id = ${userId})`,
        factorMail(siteOrigin(ctx), 'code_used'),
        sql`EXISTS (SELECT 1 FROM recovery_codes WHERE ${theirs} AND used_at = ${now})`,
        `recovery code ${userId} ${hash}`,
      ),
    ],
  }
}
