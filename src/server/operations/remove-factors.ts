import { and, eq, isNull, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { recoveryCodes, signInChallenges, totps, users } from '../../../db/schema.ts'
import { AppError } from '../../domain/error.ts'
import { hasFactor } from '../accounts/live-sign-ins.ts'
import { factorsRemovedMail } from '../mail/factor-letters.ts'
import { mailQuery } from '../mail/outbox.ts'
import { auditQuery, type Hand } from '../runtime/audit.ts'

/**
 * For who lost their app and their recovery codes, the last admin among them: from then on, their password signs them in.
 * An admin adds the next one through their mailbox. Emails the owner. @throws not_found, conflict
 */
export async function removeFactors(hand: Hand, email: string): Promise<void> {
  const { db } = hand
  const [user] = await db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.email, email), isNull(users.closedAt)))
  if (!user) throw new AppError('not_found', `There is no account with the address ${email}.`)
  const has = hasFactor(sql`${user.id}`)
  const [audited] = await writeBatch(db, [
    auditQuery(hand, { act: 'remove_factors', subject: user.id, userId: user.id }, has),
    mailQuery(hand, email, factorsRemovedMail(), has),
    ...[totps, recoveryCodes, signInChallenges].map((table) => db.delete(table).where(eq(table.userId, user.id))),
  ])
  if (!audited?.rowsAffected) throw new AppError('conflict', 'This account has no second factor.')
}
