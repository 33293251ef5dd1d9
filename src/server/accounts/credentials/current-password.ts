import { and, eq, isNull, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { AppError } from '../../../domain/error.ts'
import type { GivenFactor } from '../../../domain/factor.ts'
import { CURRENT_PASSWORD_WRONG } from '../../../domain/user.ts'
import { limitGuesses, sessionSecret } from '../../limits/limits.ts'
import type { Context } from '../../runtime/context.ts'
import { hasFactor } from '../live-sign-ins.ts'
import { verifyPassword } from './password.ts'
import type { Proven } from './proven.ts'

/** What a signed-in person typed again: the password, and where their account has one, a second factor. */
export type Proof = { current_password: string } & GivenFactor

/**
 * Checks what a signed-in person typed again, and counts the guesses.
 * @throws invalid, second_factor_required, invalid_code, too_many
 */
export async function requireCurrentPassword(ctx: Context, userId: string, proof: Proof): Promise<Proven> {
  let stored: { hash: string; factor: unknown } | undefined
  const right = await limitGuesses(ctx, sessionSecret(userId), async () => {
    // A closed account has none.
    const open = and(eq(users.id, userId), isNull(users.closedAt))
    const factor = hasFactor(sql`${users.id}`)
    ;[stored] = await ctx.db.select({ hash: users.passwordHash, factor }).from(users).where(open)
    return verifyPassword(ctx, proof.current_password, stored?.hash ?? null)
  })
  if (!right || !stored) throw wrongPassword()
  const same = sql`EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND password_hash = ${stored.hash} AND closed_at IS NULL)`
  if (!stored.factor) return { holds: same, spendQueries: () => [], lapsed: wrongPassword }
  const { requireFactor } = await import('./second-factor.ts')
  const factor = await requireFactor(ctx, userId, proof)
  return { ...factor, holds: sql`(${same} AND ${factor.holds})` }
}

/** For an act of several writes: call it once nothing but these writes can fail. @throws invalid_code */
export async function spendProof(ctx: Pick<Context, 'db'>, { holds, spendQueries, lapsed }: Proven): Promise<void> {
  const queries = spendQueries(holds)
  if (!queries.length) return
  const [spent] = await writeBatch(ctx.db, queries)
  if (!spent?.rowsAffected) throw lapsed()
}

function wrongPassword(): AppError {
  return new AppError('invalid', CURRENT_PASSWORD_WRONG, { field: 'current_password' })
}
