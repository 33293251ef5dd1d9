import { lte, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { factorRemovals } from '../../../db/schema/accounts.ts'
import { AppError } from '../../domain/error.ts'
import { REMOVAL_MS } from '../../domain/factor.ts'
import { keepFactorQueries } from '../accounts/keep-factor.ts'
import { hasFactor } from '../accounts/live-sign-ins.ts'
import { factorRemovalMail } from '../mail/factor-letters.ts'
import { deliverMail, mailQuery } from '../mail/outbox.ts'
import { auditQuery } from '../runtime/audit.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { getAccount, handOf, type Operator, requireOther, type Why } from './operator.ts'
import { removeFactorsQueries } from './remove-factors.ts'

const AT_ONCE = 50

/** Removes a lost factor a day from now, and emails its owner, who can keep it until then. @throws invalid, forbidden, not_found, conflict */
export async function askToRemove(operator: Operator, userId: string, why: Why): Promise<void> {
  const { ctx } = operator
  const hand = handOf(operator, why)
  requireOther(operator, userId)
  const { email } = await getAccount(operator, userId)
  const dueAt = ctx.now() + REMOVAL_MS
  const can = sql`${hasFactor(sql`${userId}`)} AND NOT EXISTS (SELECT 1 FROM factor_removals WHERE user_id = ${userId})
    AND EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND closed_at IS NULL)`
  const results = await writeBatch(ctx.db, [
    auditQuery(hand, { act: 'ask_no_factor', subject: userId, userId }, can),
    mailQuery(ctx, email, factorRemovalMail(siteOrigin(ctx), dueAt), can),
    ctx.db.run(sql`INSERT INTO factor_removals (user_id, actor, reason, due_at)
      SELECT ${userId}, ${hand.by.id}, ${hand.by.reason}, ${dueAt} WHERE ${can}`),
  ])
  if (!results.at(-1)?.rowsAffected)
    throw new AppError('conflict', 'They have no second factor, or we are removing it already.')
  ctx.background(deliverMail(ctx))
}

/** @throws invalid, not_found, conflict */
export async function takeBack(operator: Operator, userId: string, why: Why): Promise<void> {
  const { ctx } = operator
  const hand = handOf(operator, why)
  const { email } = await getAccount(operator, userId)
  const results = await writeBatch(ctx.db, keepFactorQueries(hand, { id: userId, email }, siteOrigin(ctx)))
  if (!results.at(-1)?.rowsAffected) throw new AppError('conflict', 'No removal is pending.')
  ctx.background(deliverMail(ctx))
}

/** Removes factors whose day is over. Safe to repeat: each is one batch, which its own row allows once. Run by cron. */
export async function removeLostFactors(ctx: Pick<Context, 'db' | 'now'>): Promise<void> {
  const due = await ctx.db.select().from(factorRemovals).where(lte(factorRemovals.dueAt, ctx.now())).limit(AT_ONCE)
  for (const { userId, actor, reason, dueAt } of due) {
    const hand = { db: ctx.db, now: ctx.now, by: { id: actor, reason } }
    const isDue = sql`EXISTS (SELECT 1 FROM factor_removals WHERE user_id = ${userId} AND due_at = ${dueAt})`
    await writeBatch(ctx.db, removeFactorsQueries(hand, userId, isDue))
  }
}
