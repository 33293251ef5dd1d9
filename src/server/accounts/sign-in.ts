import { and, eq, isNull, sql } from 'drizzle-orm'
import type { InferInput } from 'valibot'
import { signIns, type UserRow, users } from '../../../db/schema.ts'
import { AppError } from '../../domain/error.ts'
import { INVALID_CREDENTIALS, NOT_CONFIRMED, signInForm } from '../../domain/user.ts'
import type { User } from '../../domain/wire.ts'
import { newId } from '../crypto/id.ts'
import { type Caller, limitCalls, limitGuesses, mayStill, signInSecret } from '../limits/limits.ts'
import { networkOf } from '../limits/network.ts'
import type { Context } from '../runtime/context.ts'
import { requireValid } from '../runtime/form-rules.ts'
import { hashPassword, needsRehash, verifyPassword } from './credentials/password.ts'
import { SIGN_IN_LIFETIME_MS } from './live-sign-ins.ts'

/** What people see about a device in their list. */
export type Device = { userAgent: string | null; address: string | null }

export type SignInAttempt = Caller & {
  /**
   * This browser's id if it has signed in to the account before: its guesses and sign-ins are counted
   * separately.
   */
  knownDevice: string | null
}

/**
 * Creates a sign-in with a new id. Costs one read and one hash, whatever the account's state.
 * @throws unauthenticated if address and password don't match, forbidden if the address is not confirmed,
 * too_many
 */
export async function signIn(
  ctx: Context,
  input: InferInput<typeof signInForm>,
  device: Device,
  attempt: SignInAttempt,
): Promise<{ user: User; signIn: { id: string; expiresAt: number } }> {
  const { email, password } = requireValid(signInForm, input)
  // Once the known devices use up their shared limit, the usual limits apply: one of them may be stolen.
  const known = attempt.knownDevice !== null && (await mayStill(ctx, 'known_sign_in', email))
  if (!known) await limitCalls(ctx, 'sign_in', attempt)
  let found: UserRow | undefined
  const right = await limitGuesses(ctx, signInSecret(email, attempt.knownDevice), async () => {
    ;[found] = await ctx.db
      .select()
      .from(users)
      .where(and(eq(users.email, email), isNull(users.closedAt)))
    return verifyPassword(ctx, password, found?.passwordHash ?? null)
  })
  if (!found || !right) throw new AppError('invalid_credentials', INVALID_CREDENTIALS)
  if (found.confirmedAt === null) throw new AppError('forbidden', NOT_CONFIRMED)

  const now = ctx.now()
  const row = { id: newId('in'), expiresAt: now + SIGN_IN_LIFETIME_MS }
  // A password change during our check ended every sign-in, so no new one may follow it.
  const { rowsAffected } = await ctx.db.run(sql`
    INSERT INTO sign_ins (id, user_id, created_at, last_seen_at, expires_at, user_agent, address, network)
    SELECT ${row.id}, id, ${now}, ${now}, ${row.expiresAt}, ${device.userAgent}, ${device.address},
      ${device.address && networkOf(device.address)} FROM users
    WHERE id = ${found.id} AND password_hash = ${found.passwordHash} AND closed_at IS NULL`)
  if (!rowsAffected) throw new AppError('invalid_credentials', INVALID_CREDENTIALS)
  if (needsRehash(ctx, found.passwordHash)) ctx.background(rehash(ctx, found, password))
  const { id, name, admin } = found
  return { user: { id, name, email, admin }, signIn: row }
}

/** Ends the sign-in and closes its sockets. Safe to repeat. */
export async function signOut(ctx: Context, userId: string, signInId: string): Promise<void> {
  await ctx.db
    .update(signIns)
    .set({ revokedAt: ctx.now() })
    .where(and(eq(signIns.id, signInId), eq(signIns.userId, userId), isNull(signIns.revokedAt)))
  ctx.background(ctx.channel(userId).disconnect([signInId]))
}

async function rehash(ctx: Context, user: { id: string; passwordHash: string }, password: string): Promise<void> {
  const passwordHash = await hashPassword(ctx, password)
  await ctx.db
    .update(users)
    .set({ passwordHash })
    .where(and(eq(users.id, user.id), eq(users.passwordHash, user.passwordHash)))
}
