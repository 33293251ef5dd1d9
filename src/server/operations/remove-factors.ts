import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../db/client.ts'
import {
  factorRemovals,
  passkeyChallenges,
  passkeys,
  recoveryCodes,
  signInChallenges,
  totps,
  users,
} from '../../../db/schema/accounts.ts'
import { AppError } from '../../domain/error.ts'
import { hasFactor } from '../accounts/live-sign-ins.ts'
import { factorsRemovedMail } from '../mail/factor-letters.ts'
import { mailQuery } from '../mail/outbox.ts'
import { auditQuery, type Hand } from '../runtime/audit.ts'

/**
 * For someone who lost their passkeys, their app, and their recovery codes, even the last admin: from then on, their
 * password signs them in. An admin adds the next factor through their mailbox. Emails the owner. Immediate, unlike the
 * console, which waits a day.
 * @throws not_found, conflict
 */
export async function removeFactors(hand: Hand, email: string): Promise<void> {
  const { db } = hand
  const [user] = await db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.email, email), isNull(users.closedAt)))
  if (!user) throw new AppError('not_found', `There is no account with the address ${email}.`)
  const [audited] = await writeBatch(db, removeFactorsQueries(hand, user.id))
  if (!audited?.rowsAffected) throw new AppError('conflict', 'This account has no second factor.')
}

/** The first query says whether there was one. @param when an SQL condition, which the last of these writes makes false */
export function removeFactorsQueries(hand: Hand, userId: string, when: SQL = sql`1`): Query[] {
  const { db } = hand
  const has = sql`${when} AND ${hasFactor(sql`${userId}`)}`
  return [
    auditQuery(hand, { act: 'remove_factors', subject: userId, userId }, has),
    mailQuery(hand, sql`(SELECT email FROM users WHERE id = ${userId})`, factorsRemovedMail(), has),
    ...[totps, passkeys, recoveryCodes, signInChallenges, passkeyChallenges, factorRemovals].map((table) =>
      db.delete(table).where(and(eq(table.userId, userId), when)),
    ),
  ]
}
