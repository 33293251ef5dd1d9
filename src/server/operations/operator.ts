import { and, eq, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { signIns, users } from '../../../db/schema/accounts.ts'
import { auditLog } from '../../../db/schema/operations.ts'
import { LONGEST_REASON } from '../../domain/audit.ts'
import { AppError } from '../../domain/error.ts'
import type { User } from '../../domain/wire/accounts.ts'
import { type Proof, requireCurrentPassword } from '../accounts/credentials/current-password.ts'
import { requireFactor } from '../accounts/credentials/second-factor.ts'
import type { CurrentSignIn } from '../accounts/live-sign-ins.ts'
import type { Hand } from '../runtime/audit.ts'
import type { Context } from '../runtime/context.ts'

/** What every act in the console requires, and the ID that its form carries. A form sent twice acts once. */
export type Why = { reason: string; confirmed: boolean; act_id?: string }

/** An admin at work. Each act is recorded in the batch that does it. */
export type Operator = { ctx: Context; admin: User }

/** @throws invalid */
export function handOf(
  { ctx, admin }: Operator,
  { reason, confirmed, act_id }: Why,
): Hand & { by: { id: string; reason: string } } {
  const why = reason.trim()
  if (!why) throw new AppError('invalid', 'Please give a reason.', { field: 'reason' })
  if (why.length > LONGEST_REASON)
    throw new AppError('invalid', `Please give a reason of at most ${LONGEST_REASON} characters.`, { field: 'reason' })
  if (!confirmed) throw new AppError('invalid', 'Please check the box to confirm.', { field: 'confirmed' })
  const hand = { db: ctx.db, now: ctx.now, by: { id: admin.id, reason: why } }
  return act_id && FORM_ACT.test(act_id) ? { ...hand, actId: act_id } : hand
}

const FORM_ACT = /^act_[\w-]{20}\.[a-z0-9-]+$/

/** Does an act, unless the same form did it before: a double click, or a page from the browser's history. @throws conflict */
export async function once<T>({ db }: Context, { act_id: actId }: Why, act: Promise<T>): Promise<T> {
  try {
    return await act
  } catch (cause) {
    // The log takes no second record of an act, and SQLite gives that refusal no code of its own: look for the first.
    if (cause instanceof AppError || !actId || !(await db.$count(auditLog, eq(auditLog.id, actId)))) throw cause
    throw new AppError('conflict', 'You already sent this form, and it worked. To do it again, reload the page.', {
      cause,
    })
  }
}

/** Operators can't grant, credit, or free themselves. @throws forbidden */
export function requireOther({ admin }: Operator, userId: string): void {
  if (admin.id === userId) throw new AppError('forbidden', "You can't do this to your own account. Ask another admin.")
}

/** @throws not_found */
export async function getAccount(
  { ctx }: Operator,
  userId: string,
): Promise<{ email: string; closedAt: number | null }> {
  const [account] = await ctx.db
    .select({ email: users.email, closedAt: users.closedAt })
    .from(users)
    .where(eq(users.id, userId))
  if (!account) throw new AppError('not_found', `No account has the ID ${userId}.`)
  return account
}

/**
 * Lets the admin act for 15 minutes. With a second factor, they prove that instead of the password.
 * @throws invalid, second_factor_required, invalid_code, too_many
 */
export async function confirmPassword(
  { ctx, admin }: Operator,
  { id, hasFactor }: Pick<CurrentSignIn, 'id' | 'hasFactor'>,
  proof: Proof,
): Promise<void> {
  const proven = hasFactor
    ? await requireFactor(ctx, admin.id, proof, true)
    : await requireCurrentPassword(ctx, admin.id, proof)
  const now = ctx.now()
  const isDone = sql`EXISTS (SELECT 1 FROM sign_ins WHERE id = ${id} AND password_at = ${now})`
  const [confirmed] = await writeBatch(ctx.db, [
    ctx.db
      .update(signIns)
      .set({ passwordAt: now })
      .where(and(eq(signIns.id, id), proven.holds)),
    ...proven.spendQueries(isDone),
  ])
  if (!confirmed?.rowsAffected) throw proven.lapsed()
}
