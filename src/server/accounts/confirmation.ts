import { and, eq, exists, isNull, sql } from 'drizzle-orm'
import type { InferInput } from 'valibot'
import { writeBatch } from '../../../db/client.ts'
import { emailTokens, users } from '../../../db/schema/accounts.ts'
import { plans } from '../../../db/schema/billing.ts'
import { AppError } from '../../domain/error.ts'
import { CONFIRMATION_FAILED, emailForm } from '../../domain/user.ts'
import { findDebt, suspendDebtorQueries } from '../billing/bills/debts.ts'
import { type Caller, limitCalls } from '../limits/limits.ts'
import { confirmEmailMail, confirmLatestMail } from '../mail/account-letters.ts'
import { deliverMail, mailQuery } from '../mail/outbox.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { requireValid } from '../runtime/form-rules.ts'
import { hashEmailToken, hasKilledLinks, isGoodLink, keepLinkQuery, newEmailToken } from './email-tokens.ts'
import { hashMailbox, trialQueries } from './mailboxes.ts'

/**
 * Confirms the address of the link's sign-up and starts the free trial, unless its mailbox had one. Suspends the
 * account if its owner owes for a closed one. Opening the link
 * again before it expires succeeds and changes nothing: mail scanners open links before people do.
 * @returns its address, and whether the account got a trial
 * @throws invalid
 */
export async function confirmEmail(ctx: Context, token: string): Promise<{ email: string; hasTrial: boolean }> {
  const now = ctx.now()
  const hash = hashEmailToken(token)
  const isGood = isGoodLink(hash, 'confirm', now)
  const [found] = await ctx.db
    .select({ id: users.id, email: users.email, confirmedAt: users.confirmedAt })
    .from(emailTokens)
    .innerJoin(users, eq(users.id, emailTokens.userId))
    .where(and(isGood, isNull(users.closedAt)))
  if (!found) throw new AppError('invalid', CONFIRMATION_FAILED)
  const { id, email } = found
  if (found.confirmedAt !== null) return { email, hasTrial: await hasTrial(ctx, id) }
  const mailbox = await hashMailbox(ctx, email)
  const cents = await findDebt(ctx, mailbox)
  const [confirmed] = await writeBatch(ctx.db, [
    // Another sign-up with this address may have come in between: it killed this link and set its own
    // password.
    ctx.db
      .update(users)
      .set({ confirmedAt: sql`coalesce(confirmed_at, ${now})` })
      .where(
        and(
          eq(users.id, id),
          isNull(users.closedAt),
          exists(ctx.db.select({ alive: sql`1` }).from(emailTokens).where(isGood)),
        ),
      ),
    ctx.db.update(emailTokens).set({ usedAt: now }).where(isGood),
    ...trialQueries(ctx, { id, email, mailbox }, now),
    ...(cents ? suspendDebtorQueries(ctx, { id, email, cents }) : []),
  ])
  if (!confirmed?.rowsAffected) throw new AppError('invalid', CONFIRMATION_FAILED)
  ctx.background(deliverMail(ctx))
  return { email, hasTrial: await hasTrial(ctx, id) }
}

async function hasTrial(ctx: Context, userId: string): Promise<boolean> {
  return (await ctx.db.$count(plans, and(eq(plans.userId, userId), eq(plans.subType, 'demo')))) > 0
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
  ctx.background(deliverMail(ctx, email))
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
