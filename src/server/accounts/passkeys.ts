import { and, eq, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { emailTokens, passkeys, users } from '../../../db/schema/accounts.ts'
import { AppError } from '../../domain/error.ts'
import {
  LINK_NEEDED,
  MAX_PASSKEYS,
  NO_PASSKEY,
  PASSKEY_OVER,
  PASSKEY_TAKEN,
  type PasskeyResponse,
  passkeyForm,
  TOO_MANY_PASSKEYS,
} from '../../domain/factor.ts'
import { NOT_CONFIRMED } from '../../domain/user.ts'
import type { Passkey, User } from '../../domain/wire/accounts.ts'
import { newId } from '../crypto/id.ts'
import { type Caller, limitCalls, limitPerson } from '../limits/limits.ts'
import { factorMail } from '../mail/factor-letters.ts'
import { deliverMail, mailQuery } from '../mail/outbox.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { requireValid } from '../runtime/form-rules.ts'
import { endChallengesQuery } from './credentials/challenges.ts'
import { type Proof, requireCurrentPassword } from './credentials/current-password.ts'
import {
  askedAlone,
  findPasskey,
  hashOf,
  isOpenChallenge,
  keepChallengeQuery,
  listPasskeys,
  newPasskeyChallenge,
  newSignInChallenge,
  spendSignInChallenge,
  toPasskey,
  usePasskey,
  wrongPasskey,
} from './credentials/passkeys.ts'
import {
  type CreationOptions,
  creationOptions,
  type RequestOptions,
  readNewPasskey,
  requestOptions,
  signedChallenge,
} from './credentials/webauthn.ts'
import { hashEmailToken, isGoodLink } from './email-tokens.ts'
import { keepFactorQueries } from './keep-factor.ts'
import { type CurrentSignIn, hasFactor } from './live-sign-ins.ts'
import { type Attempt, type Device, newSignIn, type SignedIn, signInQueries } from './new-sign-in.ts'
import { addedMailQueries, type FirstFactor, firstFactor, mayAdd, needsLink } from './second-factors.ts'

/**
 * What a browser needs to make a passkey, within 10 minutes.
 * @param proof with the emailed `link`, for admins
 * @throws invalid, second_factor_required, invalid_code, forbidden, conflict, too_many
 */
export async function startPasskey(
  ctx: Context,
  current: CurrentSignIn,
  proof: Proof & { link?: string },
): Promise<CreationOptions> {
  const { user } = current
  await limitPerson(ctx, 'change_factor', user.id)
  const proven = await requireCurrentPassword(ctx, user.id, proof)
  const known = await listPasskeys(ctx, user.id)
  if (known.length >= MAX_PASSKEYS) throw new AppError('conflict', TOO_MANY_PASSKEYS)
  const { challenge, hash } = newPasskeyChallenge()
  const link = needsLink(ctx, current) ? hashEmailToken(proof.link ?? '') : null
  const whose = sql`SELECT id, ${link} FROM users WHERE id = ${user.id} AND ${proven.holds} AND ${mayAdd(ctx, current, proof.link)}`
  const isKept = sql`EXISTS (SELECT 1 FROM passkey_challenges WHERE hash = ${hash})`
  const [kept] = await writeBatch(ctx.db, [keepChallengeQuery(ctx, hash, 'add', whose), ...proven.spendQueries(isKept)])
  if (!kept?.rowsAffected) throw link === null ? proven.lapsed() : new AppError('forbidden', LINK_NEEDED)
  return creationOptions(ctx, challenge, user, known)
}

/**
 * Adds the passkey that the browser made, and emails its owner. The first factor ends every other sign-in: the password
 * alone may have opened it.
 * @throws invalid, invalid_code, conflict, too_many
 */
export async function addPasskey(
  ctx: Context,
  current: CurrentSignIn,
  given: { name: string; response: PasskeyResponse },
): Promise<{ passkey: Passkey } & FirstFactor> {
  const { user } = current
  const { name } = requireValid(passkeyForm, given)
  await limitPerson(ctx, 'confirm_factor', user.id)
  const challenge = signedChallenge(given.response)
  const made = await readNewPasskey(ctx, challenge, given.response)
  if (!made) throw wrongPasskey()
  const row = { id: newId('pky'), name, createdAt: ctx.now(), lastUsedAt: null }
  const isOurs = sql`EXISTS (SELECT 1 FROM passkeys WHERE id = ${row.id})`
  const first = firstFactor(
    ctx,
    current,
    sql`(${isOurs} AND (SELECT count(*) FROM passkeys WHERE user_id = ${user.id}) = 1
      AND NOT EXISTS (SELECT 1 FROM totps WHERE user_id = ${user.id} AND confirmed_at IS NOT NULL))`,
  )
  const goodLink = and(isGoodLink(sql`link`, 'factor', row.createdAt), eq(emailTokens.userId, user.id))
  const [added, , ...done] = await writeBatch(ctx.db, [
    // A new password, or closing the account, ends this sign-in.
    ctx.db.run(sql`
      INSERT INTO passkeys (id, user_id, credential_id, public_key, counter, transports, name, created_at)
      SELECT ${row.id}, user_id, ${made.credentialId}, ${made.publicKey}, ${made.counter}, ${JSON.stringify(made.transports)},
        ${name}, ${row.createdAt} FROM passkey_challenges
      WHERE ${isOpenChallenge(ctx, hashOf(challenge), 'add')} AND user_id = ${user.id}
        AND (link IS NULL OR EXISTS (SELECT 1 FROM ${emailTokens} WHERE ${goodLink}))
        AND (SELECT count(*) FROM passkeys WHERE user_id = ${user.id}) < ${MAX_PASSKEYS}
        AND EXISTS (SELECT 1 FROM sign_ins WHERE id = ${current.id} AND revoked_at IS NULL)
      ON CONFLICT (credential_id) DO NOTHING`),
    ctx.db.run(sql`UPDATE email_tokens SET used_at = ${row.createdAt} WHERE ${isOurs}
      AND hash = (SELECT link FROM passkey_challenges WHERE hash = ${hashOf(challenge)})`),
    ...first.queries,
    ctx.db.run(sql`DELETE FROM passkey_challenges WHERE hash = ${hashOf(challenge)} AND ${isOurs}`),
    ...addedMailQueries(ctx, user, 'passkey_added', { isOurs, isFirst: first.is }),
  ])
  if (!added?.rowsAffected) throw await whyNotAdded(ctx, user.id, made.credentialId)
  ctx.background(deliverMail(ctx))
  return { passkey: toPasskey(row), ...first.finish(done) }
}

async function whyNotAdded(ctx: Context, userId: string, credentialId: string): Promise<AppError> {
  const known = await listPasskeys(ctx, userId)
  if (known.length >= MAX_PASSKEYS) return new AppError('conflict', TOO_MANY_PASSKEYS)
  const taken = await findPasskey(ctx, { id: credentialId })
  return new AppError('conflict', taken ? PASSKEY_TAKEN : PASSKEY_OVER)
}

/** Emails its owner. The last factor takes the recovery codes with it. @throws invalid, second_factor_required, invalid_code, not_found, too_many */
export async function removePasskey(ctx: Context, user: User, id: string, proof: Proof): Promise<void> {
  await limitPerson(ctx, 'change_factor', user.id)
  const own = and(eq(passkeys.id, id), eq(passkeys.userId, user.id))
  // Check first, so that a refusal doesn't use up the proof.
  if (!(await ctx.db.$count(passkeys, own))) throw new AppError('not_found', NO_PASSKEY)
  const proven = await requireCurrentPassword(ctx, user.id, proof)
  const theirs = sql`FROM ${passkeys} WHERE ${own} AND ${proven.holds}`
  const [, removed] = await writeBatch(ctx.db, [
    mailQuery(ctx, user.email, factorMail(siteOrigin(ctx), 'passkey_removed'), sql`EXISTS (SELECT 1 ${theirs})`),
    ctx.db.run(sql`DELETE ${theirs}`),
    // Before the recovery codes go as well, so that the owner gets the email about the one they used.
    ...proven.spendQueries(sql`NOT EXISTS (SELECT 1 FROM passkeys WHERE id = ${id})`),
    // An operator's removal is for the lost factor, not for the one they add next.
    ctx.db.run(sql`DELETE FROM factor_removals WHERE user_id = ${user.id} AND NOT ${hasFactor(sql`${user.id}`)}`),
    ctx.db.run(sql`DELETE FROM recovery_codes WHERE user_id = ${user.id} AND NOT ${hasFactor(sql`${user.id}`)}`),
  ])
  if (!removed?.rowsAffected)
    throw (await ctx.db.$count(passkeys, own)) ? proven.lapsed() : new AppError('not_found', NO_PASSKEY)
  ctx.background(deliverMail(ctx))
}

/** For signing in with a passkey alone, in this browser. The same for everyone. @throws too_many */
export async function signInOptions(
  ctx: Context,
  caller: Caller,
): Promise<{ challenge: string; options: RequestOptions }> {
  await limitCalls(ctx, 'passkey_options', caller)
  const challenge = newSignInChallenge(ctx)
  return { challenge, options: requestOptions(ctx, challenge, null) }
}

/**
 * Signs in the passkey's owner. It counts as both factors, because the device verified them.
 * @throws unauthenticated: start over. invalid_code, forbidden if the address is not confirmed, too_many
 */
export async function signInWithPasskey(
  ctx: Context,
  { challenge, response }: { challenge: string; response: PasskeyResponse },
  device: Device,
  { knownDevice, ...caller }: Attempt,
): Promise<SignedIn> {
  await limitCalls(ctx, 'second_factor', caller)
  // Use it up before checking: each answer gets one try.
  if (!(await spendSignInChallenge(ctx, challenge))) throw new AppError('unauthenticated', PASSKEY_OVER)
  const row = await findPasskey(ctx, response)
  if (!row) throw wrongPasskey()
  const proven = await usePasskey(ctx, askedAlone(challenge), row, response)
  const [user] = await ctx.db.select().from(users).where(eq(users.id, row.userId))
  if (user?.confirmedAt === null) throw new AppError('forbidden', NOT_CONFIRMED)
  const proved = { passwordHash: user?.passwordHash ?? '', hasFactor: true }
  const signIn = newSignIn(ctx)
  const isIn = sql`EXISTS (SELECT 1 FROM sign_ins WHERE id = ${signIn.id})`
  const hand = { db: ctx.db, now: ctx.now, by: { id: row.userId, reason: 'The owner signed in with it.' } }
  const [made] = await writeBatch(ctx.db, [
    ...(await signInQueries(ctx, signIn, device, {
      isNew: !knownDevice?.(user?.email ?? '', proved),
      whose: sql`id = ${row.userId} AND closed_at IS NULL AND ${proven.holds}`,
    })),
    ...proven.spendQueries(isIn),
    // They just used it, so it isn't lost.
    ...keepFactorQueries(hand, { id: row.userId, email: user?.email ?? '' }, siteOrigin(ctx), isIn),
    endChallengesQuery(ctx, row.userId, isIn),
  ])
  if (!made?.rowsAffected || !user) throw proven.lapsed()
  ctx.background(deliverMail(ctx))
  const { id, name, email, admin } = user
  return { user: { id, name, email, admin }, signIn, proved }
}
