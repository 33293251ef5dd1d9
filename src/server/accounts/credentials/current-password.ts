import { and, eq, isNull, sql } from 'drizzle-orm'
import { users } from '../../../../db/schema.ts'
import { AppError } from '../../../domain/error.ts'
import type { GivenFactor } from '../../../domain/factor.ts'
import { CURRENT_PASSWORD_WRONG } from '../../../domain/user.ts'
import { limitGuesses, sessionSecret } from '../../limits/limits.ts'
import type { Context } from '../../runtime/context.ts'
import { hasFactor } from '../live-sign-ins.ts'
import { verifyPassword } from './password.ts'

/** What a signed-in person typed again: the password, and where their account has one, a second factor. */
export type Proof = { current_password: string } & GivenFactor

/**
 * Checks what a signed-in person typed again, and counts the guesses.
 * @returns the stored hash that the password matched: the next write can require that it hasn't changed
 * @throws invalid, second_factor_required, invalid_code, too_many
 */
export async function requireCurrentPassword(ctx: Context, userId: string, proof: Proof): Promise<string> {
  let stored: { hash: string; factor: unknown } | undefined
  const right = await limitGuesses(ctx, sessionSecret(userId), async () => {
    // A closed account has none.
    const open = and(eq(users.id, userId), isNull(users.closedAt))
    const factor = hasFactor(sql`${users.id}`)
    ;[stored] = await ctx.db.select({ hash: users.passwordHash, factor }).from(users).where(open)
    return verifyPassword(ctx, proof.current_password, stored?.hash ?? null)
  })
  if (!right || !stored) throw wrongPassword()
  if (stored.factor) {
    const { requireFactor } = await import('./second-factor.ts')
    await requireFactor(ctx, userId, proof)
  }
  return stored.hash
}

export function wrongPassword(): AppError {
  return new AppError('invalid', CURRENT_PASSWORD_WRONG, { field: 'current_password' })
}
