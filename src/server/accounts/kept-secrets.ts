import { and, eq, type SQL, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { secrets } from '../../../db/schema/fleet.ts'
import { AppError } from '../../domain/error.ts'
import { toIso } from '../../domain/instant.ts'
import type { User } from '../../domain/wire/accounts.ts'
import { sealSecret } from '../fleet/secrets.ts'
import { limitPerson } from '../limits/limits.ts'
import type { MailContent } from '../mail/letter.ts'
import { deliverMail, mailQuery } from '../mail/outbox.ts'
import type { Context } from '../runtime/context.ts'
import { type Proof, requireCurrentPassword } from './credentials/current-password.ts'

/** Values and logins that an account keeps for its own images, in one table. */
export type Kind = {
  /** Which of its rows are of this kind. */
  is: SQL
  most: number
  tooMany: string
  mail: (name: string, what: 'added' | 'changed' | 'removed') => MailContent
}
type Given = { name: string; username: string | null; value: string; proof: Proof }

/**
 * Adds one or replaces it, and emails its owner. Machines that have the old one keep it.
 * @returns when
 * @throws invalid, second_factor_required, invalid_code, conflict (there are too many), too_many
 */
export async function keepSecret(ctx: Context, user: User, { is, most, tooMany, mail }: Kind, given: Given) {
  const { name, username, value, proof } = given
  await limitPerson(ctx, 'put_secret', user.id)
  const proven = await requireCurrentPassword(ctx, user.id, proof)
  const sealed = sealSecret(ctx.config.secretKey, user.id, name, value)
  const now = ctx.now()
  const theirs = sql`FROM secrets WHERE user_id = ${user.id} AND ${is}`
  // No other write has this text: it begins with a random number.
  const isOurs = sql`${theirs} AND name = ${name} AND sealed = ${sealed}`
  const [put] = await writeBatch(ctx.db, [
    // The password may have changed during our check.
    ctx.db.run(sql`
      INSERT INTO secrets (user_id, name, username, sealed, created_at, updated_at)
      SELECT id, ${name}, ${username}, ${sealed}, ${now}, ${now} FROM users
      WHERE id = ${user.id} AND ${proven.holds}
      AND ((SELECT count(*) ${theirs}) < ${most} OR EXISTS (SELECT 1 ${theirs} AND name = ${name}))
      ON CONFLICT (user_id, name) DO UPDATE
      SET username = excluded.username, sealed = excluded.sealed, updated_at = excluded.updated_at`),
    mailQuery(ctx, user.email, mail(name, 'added'), sql`EXISTS (SELECT 1 ${isOurs} AND created_at = updated_at)`),
    mailQuery(ctx, user.email, mail(name, 'changed'), sql`EXISTS (SELECT 1 ${isOurs} AND created_at <> updated_at)`),
    ...proven.spendQueries(sql`EXISTS (SELECT 1 ${isOurs})`),
  ])
  if (!put?.rowsAffected) {
    const kept = await ctx.db.$count(secrets, and(eq(secrets.userId, user.id), is))
    throw kept >= most ? new AppError('conflict', tooMany) : proven.lapsed()
  }
  ctx.background(deliverMail(ctx))
  return toIso(now)
}

/** Machines that have it keep it. Emails its owner. @throws not_found, also for someone else's */
export async function dropSecret(ctx: Context, user: User, { is, mail }: Kind, name: string, missing: string) {
  const theirs = sql`FROM secrets WHERE user_id = ${user.id} AND name = ${name} AND ${is}`
  const [, removed] = await writeBatch(ctx.db, [
    mailQuery(ctx, user.email, mail(name, 'removed'), sql`EXISTS (SELECT 1 ${theirs})`),
    ctx.db.run(sql`DELETE ${theirs}`),
  ])
  if (!removed?.rowsAffected) throw new AppError('not_found', missing)
  ctx.background(deliverMail(ctx))
}
