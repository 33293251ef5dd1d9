import { sql } from 'drizzle-orm'
import type { InferInput } from 'valibot'
import { writeBatch } from '../../../db/client.ts'
import { users } from '../../../db/schema.ts'
import { signUpForm } from '../../domain/user.ts'
import { type Context, siteOrigin } from '../context.ts'
import { hashPassword } from '../credentials/password.ts'
import { refuseCommonPassword } from '../credentials/password-rule.ts'
import { requireValid } from '../form-rules.ts'
import { newId } from '../id.ts'
import { type Caller, limitCalls } from '../limits/limits.ts'
import { alreadySignedUpMail, confirmEmailMail } from '../mails/account.ts'
import { CONFIRM_LIFETIME_MS, newEmailToken } from './email-tokens.ts'
import { deliverMail, mailQuery } from './outbox.ts'

/**
 * A new account, not yet confirmed, and the mail with its link. For an address that has one already nothing changes but that its
 * owner gets a mail: the answer, the work and the statements are the same, so that nobody learns who is a customer.
 */
export async function signUp(ctx: Context, input: InferInput<typeof signUpForm>, caller: Caller): Promise<void> {
  const { name, email, password } = requireValid(signUpForm, input)
  refuseCommonPassword(password)
  await limitCalls(ctx, 'sign_up', caller, email)
  const passwordHash = await hashPassword(ctx, password)
  const { token, hash } = newEmailToken()
  const id = newId('user')
  const now = ctx.now()
  const isNew = sql`EXISTS (SELECT 1 FROM users WHERE id = ${id})`
  await writeBatch(ctx.db, [
    ctx.db.insert(users).values({ id, email, name, passwordHash, createdAt: now }).onConflictDoNothing({
      target: users.email,
    }),
    ctx.db.run(sql`
      INSERT INTO email_tokens (hash, user_id, purpose, created_at, expires_at)
      SELECT ${hash}, ${id}, 'confirm', ${now}, ${now + CONFIRM_LIFETIME_MS} WHERE ${isNew}`),
    mailQuery(ctx, email, confirmEmailMail(siteOrigin(ctx), token), isNew),
    mailQuery(ctx, email, alreadySignedUpMail(siteOrigin(ctx)), sql`NOT ${isNew}`),
  ])
  ctx.background(deliverMail(ctx))
}
