import { and, eq, isNull, ne, sql } from 'drizzle-orm'
import type { InferInput } from 'valibot'
import { writeBatch } from '../../../db/client.ts'
import { signIns, users } from '../../../db/schema/accounts.ts'
import { profileForm } from '../../domain/user.ts'
import type { User } from '../../domain/wire/accounts.ts'
import { newId } from '../crypto/id.ts'
import { limitPerson } from '../limits/limits.ts'
import { passwordChangedMail } from '../mail/account-letters.ts'
import { deliverMail, mailQuery } from '../mail/outbox.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { requireValid } from '../runtime/form-rules.ts'
import { revokeTokensQuery } from './api-tokens.ts'
import { newPasswordQueries } from './credentials/challenges.ts'
import { type Proof, requireCurrentPassword } from './credentials/current-password.ts'
import { hashPassword } from './credentials/password.ts'
import { refuseCommonPassword } from './credentials/password-rule.ts'
import type { CurrentSignIn } from './live-sign-ins.ts'
import type { Renewed } from './new-sign-in.ts'

/**
 * Updates the name, and the password if one of its fields is filled. A new password ends every other sign-in,
 * every API token, and every reset link, and we email the owner. The current sign-in gets a new ID, because someone may
 * have a copy of its cookie.
 * @throws invalid
 */
export async function updateProfile(
  ctx: Context,
  current: CurrentSignIn,
  input: InferInput<typeof profileForm> & Proof,
): Promise<{ user: User; renewed: Renewed | null }> {
  const { name, newPassword } = requireValid(profileForm, input)
  if (newPassword) await refuseCommonPassword(newPassword)
  const user = { ...current.user, name }
  if (newPassword) return { user, renewed: await changePassword(ctx, current, name, newPassword, input) }
  await ctx.db.update(users).set({ name }).where(eq(users.id, user.id))
  return { user, renewed: null }
}

async function changePassword(
  ctx: Context,
  { id: signInId, user, hasFactor }: CurrentSignIn,
  name: string,
  next: string,
  proof: Proof,
): Promise<Renewed> {
  await limitPerson(ctx, 'new_password', user.id)
  const proven = await requireCurrentPassword(ctx, user.id, proof)
  const passwordHash = await hashPassword(ctx, next)
  const changed = sql`EXISTS (SELECT 1 FROM users WHERE id = ${user.id} AND password_hash = ${passwordHash})`
  const renewedId = newId('in')
  const live = and(eq(signIns.userId, user.id), isNull(signIns.revokedAt))
  const [update, others, , tokens] = await writeBatch(ctx.db, [
    // If the password changed in between, that change wins.
    ctx.db
      .update(users)
      .set({ name, passwordHash })
      .where(and(eq(users.id, user.id), proven.holds)),
    ctx.db
      .update(signIns)
      .set({ revokedAt: ctx.now() })
      .where(and(live, ne(signIns.id, signInId), changed))
      .returning({ id: signIns.id }),
    ctx.db
      .update(signIns)
      .set({ id: renewedId })
      .where(and(live, eq(signIns.id, signInId), changed)),
    revokeTokensQuery(ctx, user.id, changed),
    // Someone else may have requested a link to get in, or to add a factor.
    ctx.db.run(sql`UPDATE email_tokens SET used_at = ${ctx.now()}
      WHERE user_id = ${user.id} AND purpose IN ('reset', 'factor') AND used_at IS NULL AND ${changed}`),
    ...newPasswordQueries(ctx, user.id, changed),
    mailQuery(ctx, user.email, passwordChangedMail(siteOrigin(ctx)), changed),
    ...proven.spendQueries(changed),
  ])
  if (!update?.rowsAffected) throw proven.lapsed()
  const ids = [others, tokens].flatMap((ended) => ended?.rows ?? []).map((row) => String(row.id))
  ctx.background(ctx.channel(user.id).disconnect(ids, signInId))
  ctx.background(deliverMail(ctx))
  return { id: renewedId, proved: { passwordHash, hasFactor } }
}
