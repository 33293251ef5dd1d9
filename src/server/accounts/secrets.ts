import { sql } from 'drizzle-orm'
import type { InferInput } from 'valibot'
import { writeBatch } from '../../../db/client.ts'
import { AppError } from '../../domain/error.ts'
import { toIso } from '../../domain/instant.ts'
import { MOST_SECRETS } from '../../domain/run-wishes.ts'
import { secretForm, TOO_MANY_SECRETS } from '../../domain/secret.ts'
import type { StoredSecret, User } from '../../domain/wire.ts'
import { listSecrets, sealSecret } from '../fleet/secrets.ts'
import { limitPerson } from '../limits/limits.ts'
import { deliverMail, mailQuery } from '../mail/outbox.ts'
import { secretMail } from '../mail/secret-letters.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { requireValid } from '../runtime/form-rules.ts'
import { requireCurrentPassword, wrongPassword } from './credentials/current-password.ts'

/**
 * Adds a secret or replaces its value, and emails its owner. Runs that have the old value keep it.
 * @throws invalid, conflict (there are too many), too_many
 */
export async function putSecret(ctx: Context, user: User, input: InferInput<typeof secretForm>): Promise<StoredSecret> {
  const { name, value, current_password } = requireValid(secretForm, input)
  await limitPerson(ctx, 'put_secret', user.id)
  const stored = await requireCurrentPassword(ctx, user.id, current_password)
  const sealed = sealSecret(ctx.config.secretKey, user.id, name, value)
  const now = ctx.now()
  const theirs = sql`FROM secrets WHERE user_id = ${user.id}`
  // No other write has this text: it begins with a random number.
  const isOurs = sql`${theirs} AND name = ${name} AND sealed = ${sealed}`
  const [put] = await writeBatch(ctx.db, [
    // The password may have changed during our check.
    ctx.db.run(sql`
      INSERT INTO secrets (user_id, name, sealed, created_at, updated_at)
      SELECT id, ${name}, ${sealed}, ${now}, ${now} FROM users
      WHERE id = ${user.id} AND password_hash = ${stored} AND closed_at IS NULL
      AND ((SELECT count(*) ${theirs}) < ${MOST_SECRETS} OR EXISTS (SELECT 1 ${theirs} AND name = ${name}))
      ON CONFLICT (user_id, name) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at`),
    mailQuery(
      ctx,
      user.email,
      secretMail(siteOrigin(ctx), name, 'added'),
      sql`EXISTS (SELECT 1 ${isOurs} AND created_at = updated_at)`,
    ),
    mailQuery(
      ctx,
      user.email,
      secretMail(siteOrigin(ctx), name, 'changed'),
      sql`EXISTS (SELECT 1 ${isOurs} AND created_at <> updated_at)`,
    ),
  ])
  if (!put?.rowsAffected) {
    const full = (await listSecrets(ctx, user.id)).length >= MOST_SECRETS
    throw full ? new AppError('conflict', TOO_MANY_SECRETS) : wrongPassword()
  }
  ctx.background(deliverMail(ctx))
  return { name, updated_at: toIso(now) }
}

/** Runs that have it keep it. Emails its owner. @throws not_found, also for someone else's */
export async function removeSecret(ctx: Context, user: User, name: string): Promise<void> {
  const theirs = sql`FROM secrets WHERE user_id = ${user.id} AND name = ${name}`
  const [, removed] = await writeBatch(ctx.db, [
    mailQuery(ctx, user.email, secretMail(siteOrigin(ctx), name, 'removed'), sql`EXISTS (SELECT 1 ${theirs})`),
    ctx.db.run(sql`DELETE ${theirs}`),
  ])
  if (!removed?.rowsAffected) throw new AppError('not_found', 'Secret not found.')
  ctx.background(deliverMail(ctx))
}
