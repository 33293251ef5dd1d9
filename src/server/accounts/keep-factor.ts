import { eq, type SQL, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../db/client.ts'
import { factorRemovals } from '../../../db/schema/accounts.ts'
import { AppError } from '../../domain/error.ts'
import { NOTHING_TO_KEEP } from '../../domain/factor.ts'
import type { User } from '../../domain/wire/accounts.ts'
import { factorKeptMail } from '../mail/factor-letters.ts'
import { deliverMail, mailQuery } from '../mail/outbox.ts'
import { auditQuery, type Hand } from '../runtime/audit.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'

type Whose = { id: string; email: string | SQL }

/** Ends an operator's removal of a lost factor, if there is one; the last query says whether. @param when an SQL condition */
export function keepFactorQueries(hand: Hand, { id, email }: Whose, origin: string, when: SQL = sql`1`): Query[] {
  const isAsked = sql`EXISTS (SELECT 1 FROM factor_removals WHERE user_id = ${id}) AND ${when}`
  return [
    auditQuery(hand, { act: 'keep_factor', subject: id, userId: id }, isAsked),
    mailQuery(hand, email, factorKeptMail(origin), isAsked),
    hand.db.delete(factorRemovals).where(sql`user_id = ${id} AND ${when}`),
  ]
}

/** Its owner keeps it. Takes no password: someone else who is signed in could only make an account safer. @throws conflict */
export async function keepFactor(ctx: Context, user: User): Promise<void> {
  const hand = { db: ctx.db, now: ctx.now, by: { id: user.id, reason: 'The owner keeps it.' } }
  const results = await writeBatch(ctx.db, keepFactorQueries(hand, user, siteOrigin(ctx)))
  if (!results.at(-1)?.rowsAffected) throw new AppError('conflict', NOTHING_TO_KEEP)
  ctx.background(deliverMail(ctx))
}

/** When an operator's removal of this person's factor is due; null: nobody removes it. */
export async function findRemoval(ctx: Pick<Context, 'db'>, userId: string): Promise<number | null> {
  const [row] = await ctx.db
    .select({ dueAt: factorRemovals.dueAt })
    .from(factorRemovals)
    .where(eq(factorRemovals.userId, userId))
  return row?.dueAt ?? null
}
