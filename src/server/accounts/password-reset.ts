import { and, eq, isNull, sql } from 'drizzle-orm'
import type { InferInput } from 'valibot'
import { writeBatch } from '../../../db/client.ts'
import { emailTokens, users } from '../../../db/schema/accounts.ts'
import { AppError } from '../../domain/error.ts'
import { emailForm, newPasswordForm, RESET_FAILED } from '../../domain/user.ts'
import { findDebt, suspendDebtorQueries } from '../billing/bills/debts.ts'
import { type Caller, forgiveGuesses, limitCalls, limitPerson, sessionSecret, signInSecret } from '../limits/limits.ts'
import { passwordChangedMail, resetPasswordMail } from '../mail/account-letters.ts'
import { deliverMail, mailQuery } from '../mail/outbox.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { requireValid } from '../runtime/form-rules.ts'
import { revokeTokensQuery } from './api-tokens.ts'
import { newPasswordQueries } from './credentials/challenges.ts'
import { hashPassword } from './credentials/password.ts'
import { refuseCommonPassword } from './credentials/password-rule.ts'
import { hashEmailToken, isGoodLink, keepLinkQuery, newEmailToken } from './email-tokens.ts'
import { hasFactor } from './live-sign-ins.ts'
import type { Proved } from './new-sign-in.ts'

/** Mails a link if the address has an account. The answer is the same for every address. */
export async function requestPasswordReset(
  ctx: Context,
  input: InferInput<typeof emailForm>,
  caller: Caller,
): Promise<void> {
  const { email } = requireValid(emailForm, input)
  await limitCalls(ctx, 'reset', caller, email)
  const { token, hash } = newEmailToken()
  await writeBatch(ctx.db, [
    keepLinkQuery(ctx, hash, 'reset', sql`email = ${email} AND closed_at IS NULL`),
    mailQuery(
      ctx,
      email,
      resetPasswordMail(siteOrigin(ctx), token),
      sql`EXISTS (SELECT 1 FROM email_tokens WHERE hash = ${hash})`,
    ),
  ])
  ctx.background(deliverMail(ctx, email))
}

/**
 * Whether a mailed link still works, and the address it was mailed to, so that people with a dead link needn't
 * retype it. Null for an unknown link.
 */
export async function findResetLink(
  ctx: Pick<Context, 'db' | 'now'>,
  token: string,
): Promise<{ email: string; good: boolean } | null> {
  const hash = hashEmailToken(token)
  const [found] = await ctx.db
    .select({ email: users.email, expiresAt: emailTokens.expiresAt, usedAt: emailTokens.usedAt })
    .from(emailTokens)
    .innerJoin(users, eq(users.id, emailTokens.userId))
    .where(and(eq(emailTokens.hash, hash), eq(emailTokens.purpose, 'reset'), isNull(users.closedAt)))
  return found ? { email: found.email, good: found.usedAt === null && found.expiresAt > ctx.now() } : null
}

/**
 * Sets a new password once for the holder of a mailed link. Ends every sign-in, API token, and other reset link,
 * clears the counted guesses and emails the owner. The link proves that they own the address, so this also
 * confirms it; otherwise a stranger who keeps signing up with that address would replace the password each
 * time.
 * @returns the account's email address, and what makes this browser known to it
 * @throws invalid, too_many
 */
export async function resetPassword(
  ctx: Context,
  input: InferInput<typeof newPasswordForm>,
): Promise<{ email: string; proved: Proved }> {
  const { token, password } = requireValid(newPasswordForm, input)
  await refuseCommonPassword(password)
  const hash = hashEmailToken(token)
  const now = ctx.now()
  const isGood = isGoodLink(hash, 'reset', now)
  const [found] = await ctx.db
    .select({ userId: users.id, email: users.email, factor: hasFactor(sql`${users.id}`) })
    .from(emailTokens)
    .innerJoin(users, eq(users.id, emailTokens.userId))
    .where(and(isGood, isNull(users.closedAt)))
  if (!found) throw new AppError('invalid', RESET_FAILED)
  await limitPerson(ctx, 'use_reset_link', hash)
  // Loaded when needed, because resets are rare.
  const { hashMailbox, trialQueries } = await import('./mailboxes.ts')
  const mailbox = await hashMailbox(ctx, found.email)
  const cents = await findDebt(ctx, mailbox)
  const passwordHash = await hashPassword(ctx, password)
  const changed = sql`EXISTS (SELECT 1 FROM users WHERE id = ${found.userId} AND password_hash = ${passwordHash})`
  const [update] = await writeBatch(ctx.db, [
    // Someone may have used the link while we hashed.
    ctx.db.run(sql`
      UPDATE users SET password_hash = ${passwordHash}, confirmed_at = coalesce(confirmed_at, ${now}) WHERE id = ${found.userId} AND closed_at IS NULL
      AND EXISTS (SELECT 1 FROM ${emailTokens} WHERE ${isGood})`),
    ...trialQueries(ctx, { id: found.userId, email: found.email, mailbox }, now),
    ...(cents ? suspendDebtorQueries(ctx, { id: found.userId, email: found.email, cents }) : []),
    ctx.db.run(sql`
      UPDATE email_tokens SET used_at = ${now}
      WHERE user_id = ${found.userId} AND purpose IN ('reset', 'factor') AND used_at IS NULL AND ${changed}`),
    ctx.db.run(sql`
      UPDATE sign_ins SET revoked_at = ${now} WHERE user_id = ${found.userId} AND revoked_at IS NULL AND ${changed}`),
    revokeTokensQuery(ctx, found.userId, changed),
    ...newPasswordQueries(ctx, found.userId, changed),
    mailQuery(ctx, found.email, passwordChangedMail(siteOrigin(ctx)), changed),
  ])
  if (!update?.rowsAffected) throw new AppError('invalid', RESET_FAILED)
  // The owner has just proved that the mailbox is theirs: strangers' guesses must not lock them out.
  for (const secret of [signInSecret(found.email, null), sessionSecret(found.userId)])
    ctx.background(forgiveGuesses(ctx, secret))
  ctx.background(ctx.channel(found.userId).disconnect('all'))
  ctx.background(deliverMail(ctx))
  return { email: found.email, proved: { passwordHash, hasFactor: Boolean(found.factor) } }
}
