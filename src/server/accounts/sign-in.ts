import { and, eq, isNull, sql } from 'drizzle-orm'
import type { InferInput } from 'valibot'
import { writeBatch } from '../../../db/client.ts'
import { signIns, users } from '../../../db/schema/accounts.ts'
import { AppError } from '../../domain/error.ts'
import { INVALID_CREDENTIALS, NOT_CONFIRMED, signInForm } from '../../domain/user.ts'
import { limitCalls, limitGuesses, mayStill, signInSecret } from '../limits/limits.ts'
import { deliverMail } from '../mail/outbox.ts'
import type { Context } from '../runtime/context.ts'
import { requireValid } from '../runtime/form-rules.ts'
import { needsRehash, renewHash, verifyPassword } from './credentials/password.ts'
import { hasFactor } from './live-sign-ins.ts'
import { type Attempt, type Device, newSignIn, type SignedIn, signInQueries } from './new-sign-in.ts'

/**
 * Creates a sign-in with a new id, or a challenge where the account asks for a second factor. Costs one read and one
 * hash, whatever the account's state.
 * @throws unauthenticated if address and password don't match, forbidden if the address is not confirmed,
 * too_many
 */
export async function signIn(
  ctx: Context,
  input: InferInput<typeof signInForm>,
  device: Device,
  { knownDevice, ...caller }: Attempt,
): Promise<SignedIn | { challenge: string; userId: string }> {
  const { email, password } = requireValid(signInForm, input)
  const [row] = await ctx.db
    .select({ user: users, factor: hasFactor(sql`${users.id}`) })
    .from(users)
    .where(and(eq(users.email, email), isNull(users.closedAt)))
  const found = row?.user
  const proved = { passwordHash: found?.passwordHash ?? '', hasFactor: Boolean(row?.factor) }
  const known = knownDevice?.(email, proved) ?? null
  // Once the known devices use up their shared limit, the usual limits apply: one of them may be stolen.
  const isKnown = known !== null && (await mayStill(ctx, 'known_sign_in', email))
  if (!isKnown) await limitCalls(ctx, 'sign_in', caller)
  const right = await limitGuesses(ctx, signInSecret(email, known), () =>
    verifyPassword(ctx, password, found?.passwordHash ?? null),
  )
  if (!found || !right) {
    const { noteRefusedQuery } = await import('./refused-sign-ins.ts')
    ctx.background(noteRefusedQuery(ctx, 'password', sql`email = ${email}`, device))
    throw new AppError('invalid_credentials', INVALID_CREDENTIALS)
  }
  if (found.confirmedAt === null) throw new AppError('forbidden', NOT_CONFIRMED)

  if (proved.hasFactor) {
    const { newChallenge } = await import('./credentials/challenges.ts')
    const challenge = await newChallenge(ctx, found, { ...device, newBrowser: known === null })
    rehashIfOld(ctx, found, password)
    return { challenge, userId: found.id }
  }
  const made = newSignIn(ctx)
  // A password change during our check ended every sign-in, so no new one may follow it.
  const queries = await signInQueries(ctx, made, device, {
    isNew: known === null,
    whose: sql`id = ${found.id} AND password_hash = ${found.passwordHash} AND closed_at IS NULL AND NOT ${hasFactor(sql`${found.id}`)}`,
  })
  const [inserted] = await writeBatch(ctx.db, queries)
  if (!inserted?.rowsAffected) throw new AppError('invalid_credentials', INVALID_CREDENTIALS)
  rehashIfOld(ctx, found, password)
  if (queries.length > 1) ctx.background(deliverMail(ctx))
  const { id, name, admin } = found
  return { user: { id, name, email, admin }, signIn: made, proved }
}

/** Ends the sign-in and closes its sockets. Safe to repeat. */
export async function signOut(ctx: Context, userId: string, signInId: string): Promise<void> {
  await ctx.db
    .update(signIns)
    .set({ revokedAt: ctx.now() })
    .where(and(eq(signIns.id, signInId), eq(signIns.userId, userId), isNull(signIns.revokedAt)))
  ctx.background(ctx.channel(userId).disconnect([signInId]))
}

/** Call it after the write that requires the password to be the one we checked. */
function rehashIfOld(ctx: Context, user: { id: string; passwordHash: string }, password: string): void {
  if (needsRehash(ctx, user.passwordHash)) ctx.background(rehash(ctx, user, password))
}

async function rehash(ctx: Context, user: { id: string; passwordHash: string }, password: string): Promise<void> {
  const passwordHash = await renewHash(ctx, password, user.passwordHash)
  await ctx.db
    .update(users)
    .set({ passwordHash })
    .where(and(eq(users.id, user.id), eq(users.passwordHash, user.passwordHash)))
}
