import { and, eq, isNull } from 'drizzle-orm'
import { users } from '../../../../db/schema.ts'
import { AppError } from '../../../domain/error.ts'
import { CURRENT_PASSWORD_WRONG } from '../../../domain/user.ts'
import { limitGuesses, sessionSecret } from '../../limits/limits.ts'
import type { Context } from '../../runtime/context.ts'
import { verifyPassword } from './password.ts'

/**
 * Checks the password that a signed-in person typed again, and counts the guesses.
 * @returns the stored hash that it matched: the next write can require that it hasn't changed
 * @throws invalid, too_many
 */
export async function requireCurrentPassword(ctx: Context, userId: string, password: string): Promise<string> {
  let stored: string | null = null
  const right = await limitGuesses(ctx, sessionSecret(userId), async () => {
    // A closed account has none.
    const open = and(eq(users.id, userId), isNull(users.closedAt))
    const [row] = await ctx.db.select({ hash: users.passwordHash }).from(users).where(open)
    stored = row?.hash ?? null
    return verifyPassword(ctx, password, stored)
  })
  if (!right || stored === null) throw wrongPassword()
  return stored
}

export function wrongPassword(): AppError {
  return new AppError('invalid', CURRENT_PASSWORD_WRONG, { field: 'current_password' })
}
