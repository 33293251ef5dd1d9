import { and, eq, exists, isNull, sql } from 'drizzle-orm'
import type { InferInput } from 'valibot'
import { writeBatch } from '../../../db/client.ts'
import { emailTokens, users } from '../../../db/schema.ts'
import { AppError } from '../../domain/error.ts'
import { TRIAL_MINUTES } from '../../domain/money/plan.ts'
import { CONFIRMATION_FAILED, emailForm } from '../../domain/user.ts'
import { type Context, siteOrigin } from '../context.ts'
import { requireValid } from '../form-rules.ts'
import { newId } from '../id.ts'
import { type Caller, limitCalls } from '../limits/limits.ts'
import { confirmEmailMail, confirmLatestMail } from '../mail/account-letters.ts'
import { deliverMail, mailQuery } from '../mail/outbox.ts'
import { hashEmailToken, hasKilledLinks, isGoodLink, keepLinkQuery, newEmailToken } from './email-tokens.ts'

/**
 * Confirms the address of the link's sign-up and starts the free trial. Opening the link again before it
 * expires succeeds and changes nothing: mail scanners open links before people do.
 * @throws invalid
 */
export async function confirmEmail(ctx: Context, token: string): Promise<void> {
  const now = ctx.now()
  const hash = hashEmailToken(token)
  const isGood = isGoodLink(hash, 'confirm', now)
  const [found] = await ctx.db
    .select({ userId: users.id, confirmedAt: users.confirmedAt })
    .from(emailTokens)
    .innerJoin(users, eq(users.id, emailTokens.userId))
    .where(and(isGood, isNull(users.closedAt)))
  if (!found) throw new AppError('invalid', CONFIRMATION_FAILED)
  if (found.confirmedAt !== null) return
  const { userId } = found
  const [confirmed] = await writeBatch(ctx.db, [
    // Another sign-up with this address may have come in between: it killed this link and set its own
    // password.
    ctx.db
      .update(users)
      .set({ confirmedAt: sql`coalesce(confirmed_at, ${now})` })
      .where(
        and(
          eq(users.id, userId),
          isNull(users.closedAt),
          exists(ctx.db.select({ alive: sql`1` }).from(emailTokens).where(isGood)),
        ),
      ),
    ctx.db.update(emailTokens).set({ usedAt: now }).where(isGood),
    trialQuery(ctx, userId, now),
  ])
  if (!confirmed?.rowsAffected) throw new AppError('invalid', CONFIRMATION_FAILED)
}

/** Starts the trial, one per person. For the batch that confirms the address at `now`. */
export function trialQuery(ctx: Pick<Context, 'db'>, userId: string, now: number) {
  return ctx.db.run(sql`
    INSERT INTO subscriptions (id, user_id, plan_type, sub_type, status, anchor, hours, created_at)
    SELECT ${newId('sub')}, ${userId}, 'demo', 'demo', 'trialing', ${now}, ${TRIAL_MINUTES / 60}, ${now}
    WHERE EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND confirmed_at = ${now} AND closed_at IS NULL)
    AND NOT EXISTS (SELECT 1 FROM subscriptions WHERE user_id = ${userId})`)
}

/**
 * Mails a new link for the latest unconfirmed sign-up of an address. Older links stay valid, because anyone
 * may call this. The answer is the same for every address; the email mentions it if that sign-up replaced
 * another.
 */
export async function resendConfirmation(
  ctx: Context,
  input: InferInput<typeof emailForm>,
  caller: Caller,
): Promise<void> {
  const { email } = requireValid(emailForm, input)
  await limitCalls(ctx, 'resend', caller, email)
  const { token, hash } = newEmailToken()
  const origin = siteOrigin(ctx)
  const isSent = sql`EXISTS (SELECT 1 FROM email_tokens WHERE hash = ${hash})`
  const isLatest = hasKilledLinks(sql`(SELECT id FROM users WHERE email = ${email})`)
  await writeBatch(ctx.db, [
    keepLinkQuery(ctx, hash, 'confirm', sql`email = ${email} AND confirmed_at IS NULL AND closed_at IS NULL`),
    mailQuery(ctx, email, confirmEmailMail(origin, token), sql`${isSent} AND NOT ${isLatest}`),
    mailQuery(ctx, email, confirmLatestMail(origin, token), sql`${isSent} AND ${isLatest}`),
  ])
  ctx.background(deliverMail(ctx))
}

/**
 * The address that a confirmation link was mailed to, even after it expired, so that its holder needn't
 * retype it.
 */
export async function findAddressOfLink(ctx: Pick<Context, 'db'>, token: string): Promise<string | null> {
  const [found] = await ctx.db
    .select({ email: users.email })
    .from(emailTokens)
    .innerJoin(users, eq(users.id, emailTokens.userId))
    .where(and(eq(emailTokens.hash, hashEmailToken(token)), eq(emailTokens.purpose, 'confirm'), isNull(users.closedAt)))
  return found?.email ?? null
}
