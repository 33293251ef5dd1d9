import { and, eq, gt, isNull, ne, type SQL, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { emailTokens, passkeyChallenges, signIns, totps, users } from '../../../db/schema/accounts.ts'
import { AppError } from '../../domain/error.ts'
import {
  CHALLENGE_MINUTES,
  CODES_NEED_FACTOR,
  HAS_TOTP,
  LINK_NEEDED,
  NO_TOTP,
  TOTP_CODE_WRONG,
  TOTP_NOT_STARTED,
} from '../../domain/factor.ts'
import { MINUTE_MS } from '../../domain/instant.ts'
import type { User } from '../../domain/wire/accounts.ts'
import { newId } from '../crypto/id.ts'
import { limitPerson } from '../limits/limits.ts'
import { factorLinkMail, factorMail } from '../mail/factor-letters.ts'
import { deliverMail, mailQuery } from '../mail/outbox.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { type Proof, requireCurrentPassword } from './credentials/current-password.ts'
import { newRecoveryCodes } from './credentials/recovery-codes.ts'
import { findTotp, type NewTotp, newTotp, newTotpSecret, openTotp, sealTotp, stepOf } from './credentials/totp.ts'
import { hashEmailToken, isGoodLink, keepLinkQuery, newEmailToken } from './email-tokens.ts'
import { type CurrentSignIn, hasFactor, hasPasskey } from './live-sign-ins.ts'
import type { Renewed } from './new-sign-in.ts'

/** A stolen password must not open the console: admins prove that their mailbox is theirs as well. */
export function needsLink(ctx: Pick<Context, 'config'>, { user, hasFactor }: CurrentSignIn): boolean {
  return ctx.config.adminFactor && user.admin && !hasFactor
}

/**
 * An SQL condition on `users`: they may add a factor. Someone without a factor proved none, so this fails if one was
 * added in the meantime. An admin's first one needs the emailed link.
 */
export function mayAdd(ctx: Pick<Context, 'config' | 'now'>, current: CurrentSignIn, link = ''): SQL {
  const isSame = sql`${hasFactor(sql`${users.id}`)} = ${current.hasFactor ? 1 : 0}`
  if (!needsLink(ctx, current)) return isSame
  return sql`(${isSame} AND EXISTS (SELECT 1 FROM ${emailTokens} WHERE ${isTheirLink(ctx, current, link)}))`
}

function isTheirLink(ctx: Pick<Context, 'now'>, { user }: CurrentSignIn, link: string) {
  return and(isGoodLink(hashEmailToken(link), 'factor', ctx.now()), eq(emailTokens.userId, user.id))
}

/** Emails an admin a link to add the first factor. It works once, within 10 minutes. @throws too_many */
export async function mailFactorLink(ctx: Context, { user }: CurrentSignIn): Promise<void> {
  await limitPerson(ctx, 'change_factor', user.id)
  const { token, hash } = newEmailToken()
  await writeBatch(ctx.db, [
    keepLinkQuery(ctx, hash, 'factor', sql`id = ${user.id} AND admin AND closed_at IS NULL`),
    mailQuery(
      ctx,
      user.email,
      factorLinkMail(siteOrigin(ctx), token),
      sql`EXISTS (SELECT 1 FROM email_tokens WHERE hash = ${hash})`,
    ),
  ])
  ctx.background(deliverMail(ctx, user.email))
}

/**
 * Makes a secret, which counts once its owner has typed a first code. Starting again replaces it.
 * @param proof with the emailed `link`, for admins
 * @throws invalid, second_factor_required, invalid_code, forbidden, conflict, too_many
 */
export async function startTotp(
  ctx: Context,
  current: CurrentSignIn,
  proof: Proof & { link?: string },
): Promise<NewTotp> {
  const { id, user } = current
  await limitPerson(ctx, 'change_factor', user.id)
  const proven = await requireCurrentPassword(ctx, user.id, proof)
  const secret = await newTotpSecret()
  const sealed = sealTotp(ctx.config.secretKey, user.id, secret)
  const now = ctx.now()
  const isStarted = sql`EXISTS (SELECT 1 FROM totps WHERE user_id = ${user.id} AND sealed = ${sealed})`
  const [started] = await writeBatch(ctx.db, [
    ctx.db.run(sql`
      INSERT INTO totps (user_id, sealed, created_at, sign_in_id)
      SELECT id, ${sealed}, ${now}, ${id} FROM users
      WHERE id = ${user.id} AND ${proven.holds} AND ${mayAdd(ctx, current, proof.link)}
      ON CONFLICT (user_id) DO UPDATE SET sealed = excluded.sealed, created_at = excluded.created_at,
        sign_in_id = excluded.sign_in_id WHERE confirmed_at IS NULL`),
    ctx.db
      .update(emailTokens)
      .set({ usedAt: now })
      .where(and(isTheirLink(ctx, current, proof.link ?? ''), isStarted)),
    ...proven.spendQueries(isStarted),
  ])
  if (!started?.rowsAffected) throw (await whyNotStarted(ctx, current)) ?? proven.lapsed()
  return newTotp(user.email, secret)
}

async function whyNotStarted(ctx: Context, current: CurrentSignIn): Promise<AppError | null> {
  if (await findTotp(ctx, current.user.id)) return new AppError('conflict', HAS_TOTP)
  return needsLink(ctx, current) ? new AppError('forbidden', LINK_NEEDED) : null
}

/** What this sign-in has started and may still confirm, so that its page can show it again; null: nothing. */
export async function findNewTotp(ctx: Context, current: CurrentSignIn): Promise<NewTotp | null> {
  const row = await findStarted(ctx, current)
  return row && newTotp(current.user.email, openTotp(ctx.config.secretKey, current.user.id, row.sealed))
}

async function findStarted(ctx: Context, { id, user }: CurrentSignIn) {
  const [row] = await ctx.db
    .select()
    .from(totps)
    .where(
      and(
        eq(totps.userId, user.id),
        isNull(totps.confirmedAt),
        eq(totps.signInId, id),
        gt(totps.createdAt, ctx.now() - CHALLENGE_MINUTES * MINUTE_MS),
      ),
    )
  return row ?? null
}

/**
 * Makes the app count, and emails its owner. The first factor ends every other sign-in: the password alone may have opened it.
 * @throws conflict, invalid_code, too_many
 */
export async function confirmTotp(ctx: Context, current: CurrentSignIn, code: string): Promise<FirstFactor> {
  const { user } = current
  await limitPerson(ctx, 'confirm_factor', user.id)
  const started = await findStarted(ctx, current)
  if (!started) throw new AppError('conflict', TOTP_NOT_STARTED)
  const step = await stepOf(ctx, started.sealed, user.id, code.replaceAll(/\s/g, ''))
  if (step === null) throw new AppError('invalid_code', TOTP_CODE_WRONG, { field: 'code' })
  const { secretKey } = ctx.config
  // No other write has this text: it begins with a random number.
  const sealed = sealTotp(secretKey, user.id, openTotp(secretKey, user.id, started.sealed))
  const isOurs = sql`EXISTS (SELECT 1 FROM totps WHERE user_id = ${user.id} AND sealed = ${sealed})`
  const first = firstFactor(ctx, current, sql`(${isOurs} AND NOT ${hasPasskey(sql`${user.id}`)})`)
  const now = ctx.now()
  const [confirmed, ...done] = await writeBatch(ctx.db, [
    ctx.db
      .update(totps)
      .set({ sealed, confirmedAt: now, lastStep: step, lastUsedAt: now })
      .where(
        and(
          eq(totps.userId, user.id),
          isNull(totps.confirmedAt),
          eq(totps.sealed, started.sealed),
          // A new password, or closing the account, ends this sign-in.
          sql`EXISTS (SELECT 1 FROM sign_ins WHERE id = ${current.id} AND revoked_at IS NULL)`,
        ),
      ),
    ...first.queries,
    ...addedMailQueries(ctx, user, 'totp_added', { isOurs, isFirst: first.is }),
  ])
  if (!confirmed?.rowsAffected) throw new AppError('conflict', TOTP_NOT_STARTED)
  ctx.background(deliverMail(ctx))
  return first.finish(done)
}

export type FirstFactor = {
  /** Shown only once. Empty if there was a factor before. */
  codes: string[]
  /** Null if there was a factor before. */
  renewed: Renewed | null
}

/**
 * What the first factor brings, as part of its batch: recovery codes, and the end of every other sign-in and of everything
 * begun without a factor, because the password alone may have opened it. This sign-in gets a new ID, because someone may have
 * a copy of its cookie.
 * @param is an SQL condition
 */
export function firstFactor(ctx: Context, { id, user }: CurrentSignIn, is: SQL) {
  const { codes, queries } = newRecoveryCodes(ctx, user.id, is)
  const renewedId = newId('in')
  const begun = (table: typeof totps | typeof passkeyChallenges) => and(eq(table.userId, user.id), is)
  return {
    is,
    queries: [
      ctx.db
        .update(signIns)
        .set({ revokedAt: ctx.now() })
        .where(and(eq(signIns.userId, user.id), ne(signIns.id, id), isNull(signIns.revokedAt), is))
        .returning({ id: signIns.id }),
      ctx.db
        .update(signIns)
        .set({ id: renewedId })
        .where(and(eq(signIns.id, id), is))
        .returning({
          passwordHash: sql`(SELECT password_hash FROM users WHERE users.id = ${user.id})`.as('passwordHash'),
        }),
      ...queries,
      ctx.db.delete(totps).where(and(begun(totps), isNull(totps.confirmedAt))),
      ctx.db.delete(passkeyChallenges).where(begun(passkeyChallenges)),
    ],
    /** @param done what those queries did */
    finish([others, renewed]: readonly { rows: readonly object[] }[]): FirstFactor {
      const [made] = (renewed?.rows ?? []) as { passwordHash: string }[]
      if (!made) return { codes: [], renewed: null }
      const ids = (others?.rows ?? []).map((row) => String((row as { id: unknown }).id))
      ctx.background(ctx.channel(user.id).disconnect(ids, id))
      return { codes, renewed: { id: renewedId, proved: { passwordHash: made.passwordHash, hasFactor: true } } }
    },
  }
}

export function addedMailQueries(
  ctx: Context,
  user: User,
  what: 'totp_added' | 'passkey_added',
  { isOurs, isFirst }: { isOurs: SQL; isFirst: SQL },
) {
  const origin = siteOrigin(ctx)
  return [
    mailQuery(ctx, user.email, factorMail(origin, what, 'first'), isFirst),
    mailQuery(ctx, user.email, factorMail(origin, what), sql`${isOurs} AND NOT ${isFirst}`),
  ]
}

/** Emails its owner. The last factor takes the recovery codes with it. @throws invalid, second_factor_required, invalid_code, not_found, too_many */
export async function removeTotp(ctx: Context, user: User, proof: Proof): Promise<void> {
  await limitPerson(ctx, 'change_factor', user.id)
  // Check first, so that a refusal doesn't use up the proof.
  if (!(await findTotp(ctx, user.id))) throw new AppError('not_found', NO_TOTP)
  const proven = await requireCurrentPassword(ctx, user.id, proof)
  const theirs = sql`FROM totps WHERE user_id = ${user.id} AND confirmed_at IS NOT NULL AND ${proven.holds}`
  const [, removed] = await writeBatch(ctx.db, [
    mailQuery(ctx, user.email, factorMail(siteOrigin(ctx), 'totp_removed'), sql`EXISTS (SELECT 1 ${theirs})`),
    ctx.db.run(sql`DELETE ${theirs}`),
    // Before the recovery codes go as well, so that the owner gets the email about the one they used.
    ...proven.spendQueries(
      sql`NOT EXISTS (SELECT 1 FROM totps WHERE user_id = ${user.id} AND confirmed_at IS NOT NULL)`,
    ),
    // An operator's removal is for the lost factor, not for the one they add next.
    ctx.db.run(sql`DELETE FROM factor_removals WHERE user_id = ${user.id} AND NOT ${hasFactor(sql`${user.id}`)}`),
    ctx.db.run(sql`DELETE FROM recovery_codes WHERE user_id = ${user.id} AND NOT ${hasFactor(sql`${user.id}`)}`),
  ])
  if (!removed?.rowsAffected)
    throw (await findTotp(ctx, user.id)) ? proven.lapsed() : new AppError('not_found', NO_TOTP)
  ctx.background(deliverMail(ctx))
}

/** Replaces them, and emails their owner. @throws invalid, second_factor_required, invalid_code, conflict, too_many */
export async function renewRecoveryCodes(ctx: Context, user: User, proof: Proof): Promise<string[]> {
  await limitPerson(ctx, 'change_factor', user.id)
  const proven = await requireCurrentPassword(ctx, user.id, proof)
  const when = sql`${hasFactor(sql`${user.id}`)} AND ${proven.holds}`
  const { codes, made, queries } = newRecoveryCodes(ctx, user.id, when)
  const mail = mailQuery(ctx, user.email, factorMail(siteOrigin(ctx), 'codes_renewed'), made)
  const [inserted] = await writeBatch(ctx.db, [...queries, mail, ...proven.spendQueries(made)])
  if (!inserted?.rowsAffected) {
    const has = and(eq(users.id, user.id), hasFactor(sql`${user.id}`))
    throw (await ctx.db.$count(users, has)) ? proven.lapsed() : new AppError('conflict', CODES_NEED_FACTOR)
  }
  ctx.background(deliverMail(ctx))
  return codes
}
