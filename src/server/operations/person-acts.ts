import { eq, type SQL, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../db/client.ts'
import { bills } from '../../../db/schema/billing.ts'
import { AppError } from '../../domain/error.ts'
import type { PlanType } from '../../domain/money/plan.ts'
import { revokeTokensQuery } from '../accounts/api-tokens.ts'
import { correctBill } from '../billing/bills/corrections.ts'
import { holdInvoice, releaseInvoice } from '../billing/bills/invoice-hold.ts'
import { endGrantedPlan, grantPlan } from '../billing/plans/grants.ts'
import { noticeQuery, tellQueries } from '../mail/notices.ts'
import { heldMail, liftedNotice, signedOutNotice } from '../mail/operator-letters.ts'
import { deliverMail } from '../mail/outbox.ts'
import { auditQuery } from '../runtime/audit.ts'
import { getAccount, handOf, type Operator, requireOther, type Why } from './operator.ts'

/** Refuses this person's starts until the suspension is lifted. Running servers keep running. */
export async function suspend(operator: Operator, userId: string, why: Why): Promise<void> {
  const { ctx } = operator
  const hand = handOf(operator, why)
  requireOther(operator, userId)
  const { email } = await getAccount(operator, userId)
  const open = sql`id = ${userId} AND held_at IS NULL AND closed_at IS NULL`
  await change(operator, 'This account is already suspended or closed.', [
    auditQuery(hand, { act: 'suspend', subject: userId, userId }, isUser(open)),
    ...tellQueries(ctx, { id: userId, email }, heldMail(), isUser(open)),
    ctx.db.run(sql`UPDATE users SET held_at = ${ctx.now()} WHERE ${open}`),
  ])
  ctx.background(Promise.all([ctx.channel(userId).tellAccount(), deliverMail(ctx)]))
}

/** Lifts an operator's suspension. One for an overdue invoice ends when it is paid. */
export async function lift(operator: Operator, userId: string, why: Why): Promise<void> {
  const { ctx } = operator
  const hand = handOf(operator, why)
  requireOther(operator, userId)
  const held = sql`id = ${userId} AND held_at IS NOT NULL`
  await change(operator, 'No operator suspended this account.', [
    auditQuery(hand, { act: 'lift', subject: userId, userId }, isUser(held)),
    noticeQuery(ctx, userId, liftedNotice(), { when: isUser(held) }),
    ctx.db.run(sql`UPDATE users SET held_at = NULL WHERE ${held}`),
  ])
  ctx.background(ctx.channel(userId).tellAccount())
}

/** Shows an act's effect and its notice at once. */
function tellPages({ ctx }: Operator, userId: string): void {
  ctx.background(ctx.channel(userId).tellAccount())
}

const isUser = (condition: SQL) => sql`EXISTS (SELECT 1 FROM users WHERE ${condition})`

/** @throws conflict if the last write changed nothing */
async function change(operator: Operator, otherwise: string, queries: Query[]): Promise<void> {
  const results = await writeBatch(operator.ctx.db, queries)
  if (!results.at(-1)?.rowsAffected) throw new AppError('conflict', otherwise)
}

export async function grant(
  operator: Operator,
  userId: string,
  plan: { type: PlanType; hours: number },
  why: Why,
): Promise<void> {
  const hand = handOf(operator, why)
  requireOther(operator, userId)
  if (!Number.isFinite(plan.hours) || plan.hours < 0 || plan.hours > 10_000)
    throw new AppError('invalid', 'The hours must be a number from 0 to 10,000.', { field: 'hours' })
  const { email, closedAt } = await getAccount(operator, userId)
  if (closedAt !== null) throw new AppError('conflict', 'This account is closed.')
  await grantPlan(hand, email, plan)
  tellPages(operator, userId)
}

export async function endGrant(operator: Operator, userId: string, why: Why): Promise<void> {
  const hand = handOf(operator, why)
  requireOther(operator, userId)
  if (!(await endGrantedPlan(hand, (await getAccount(operator, userId)).email)))
    throw new AppError('conflict', 'They have no trial or granted plan.')
  tellPages(operator, userId)
}

/** The customer sees the reason. @returns false if the bill already says so */
export async function correct(operator: Operator, billId: string, seconds: number, why: Why): Promise<boolean> {
  const hand = handOf(operator, why)
  const [bill] = await operator.ctx.db.select({ userId: bills.userId }).from(bills).where(eq(bills.id, billId))
  if (bill) requireOther(operator, bill.userId)
  const correction = await correctBill(hand, billId, { seconds, reason: hand.by.reason })
  if (correction) tellPages(operator, correction.userId)
  return correction !== null
}

/** Nobody is charged, sent, or suspended for a bill's invoice until it's released. */
export async function holdBill(operator: Operator, billId: string, hold: boolean, why: Why): Promise<void> {
  const hand = handOf(operator, why)
  const [bill] = await operator.ctx.db.select({ userId: bills.userId }).from(bills).where(eq(bills.id, billId))
  if (bill) requireOther(operator, bill.userId)
  const { userId } = await (hold ? holdInvoice : releaseInvoice)(operator.ctx, hand, billId)
  tellPages(operator, userId)
}

/** Ends every sign-in and every API token. */
export async function signOutPerson(operator: Operator, userId: string, why: Why): Promise<void> {
  const { ctx } = operator
  const hand = handOf(operator, why)
  requireOther(operator, userId)
  await getAccount(operator, userId)
  await writeBatch(ctx.db, [
    auditQuery(hand, { act: 'sign_out', subject: userId, userId }),
    noticeQuery(ctx, userId, signedOutNotice()),
    ctx.db.run(sql`UPDATE sign_ins SET revoked_at = ${ctx.now()} WHERE user_id = ${userId} AND revoked_at IS NULL`),
    revokeTokensQuery(ctx, userId),
  ])
  ctx.background(ctx.channel(userId).disconnect('all'))
}
