import { sql } from 'drizzle-orm'
import type { InferInput } from 'valibot'
import { writeBatch } from '../../../db/client.ts'
import { users } from '../../../db/schema/accounts.ts'
import { signUpForm } from '../../domain/user.ts'
import { newId } from '../crypto/id.ts'
import { type Caller, limitCalls } from '../limits/limits.ts'
import { alreadySignedUpMail, confirmEmailMail, confirmLatestMail } from '../mail/account-letters.ts'
import { deliverMail, mailQuery } from '../mail/outbox.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { requireValid } from '../runtime/form-rules.ts'
import { hashPassword } from './credentials/password.ts'
import { refuseCommonPassword } from './credentials/password-rule.ts'
import { keepLinkQuery, killConfirmLinks, newEmailToken } from './email-tokens.ts'

/**
 * Creates an unconfirmed account and mails its link. Anyone may sign up with any address, so until it is
 * confirmed the latest sign-up wins: its name and password count, and earlier links die. A confirmed account
 * stays as it is; its owner gets an email. The answer, the work and the statements are the same in every
 * case, so that nobody learns who is a customer.
 */
export async function signUp(ctx: Context, input: InferInput<typeof signUpForm>, caller: Caller): Promise<void> {
  const { name, email, password } = requireValid(signUpForm, input)
  await refuseCommonPassword(password)
  await limitCalls(ctx, 'sign_up', caller, email)
  const passwordHash = await hashPassword(ctx, password)
  const { token, hash } = newEmailToken()
  const id = newId('user')
  const now = ctx.now()
  const origin = siteOrigin(ctx)
  // Each hash has its own salt, so it identifies this sign-up.
  const ours = sql`email = ${email} AND password_hash = ${passwordHash}`
  const isOurs = sql`EXISTS (SELECT 1 FROM users WHERE ${ours})`
  const isFirst = sql`EXISTS (SELECT 1 FROM users WHERE id = ${id})`
  await writeBatch(ctx.db, [
    ctx.db.insert(users).values({ id, email, name, passwordHash, createdAt: now }).onConflictDoUpdate({
      target: users.email,
      set: { name, passwordHash },
      setWhere: sql`users.confirmed_at IS NULL AND users.closed_at IS NULL`,
    }),
    killConfirmLinks(ctx, sql`(SELECT id FROM users WHERE ${ours})`),
    keepLinkQuery(ctx, hash, 'confirm', ours),
    mailQuery(ctx, email, confirmEmailMail(origin, token), isFirst),
    mailQuery(ctx, email, confirmLatestMail(origin, token), sql`${isOurs} AND NOT ${isFirst}`),
    mailQuery(ctx, email, alreadySignedUpMail(origin), sql`NOT ${isOurs}`),
  ])
  ctx.background(deliverMail(ctx, email))
}
