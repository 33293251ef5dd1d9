import { createHash, randomBytes } from 'node:crypto'
import { asc, eq, type SQL, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { type PasskeyRow, passkeyChallenges, passkeys } from '../../../../db/schema/accounts.ts'
import { AppError } from '../../../domain/error.ts'
import {
  CHALLENGE_MINUTES,
  PASSKEY_COPIED,
  PASSKEY_WAITS,
  PASSKEY_WRONG,
  type PasskeyResponse,
} from '../../../domain/factor.ts'
import { MINUTE_MS, toIso } from '../../../domain/instant.ts'
import type { Passkey } from '../../../domain/wire/accounts.ts'
import { isSignature, signatureOf } from '../../crypto/keys.ts'
import { limitPerson } from '../../limits/limits.ts'
import { COPIED_MAILS, passkeyCopiedMail } from '../../mail/factor-letters.ts'
import { deliverMail, fewToday, mailQuery } from '../../mail/outbox.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'
import type { Proven } from './proven.ts'
import { type RequestOptions, requestOptions, signedChallenge, verifyAnswer } from './webauthn.ts'

export const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url')

/** An account's passkeys, oldest first. */
export function listPasskeys(ctx: Pick<Context, 'db'>, userId: string) {
  return ctx.db.select().from(passkeys).where(eq(passkeys.userId, userId)).orderBy(asc(passkeys.createdAt))
}

export function toPasskey({
  id,
  name,
  createdAt,
  lastUsedAt,
}: Pick<PasskeyRow, 'id' | 'name' | 'createdAt' | 'lastUsedAt'>): Passkey {
  return { id, name, added_at: toIso(createdAt), last_used_at: toIso(lastUsedAt) }
}

type Purpose = 'add' | 'confirm'

/** 256 random bits for a passkey to sign, in this browser. */
export function newPasskeyChallenge(): { challenge: string; hash: string } {
  const challenge = randomBytes(32).toString('base64url')
  return { challenge, hash: hashOf(challenge) }
}

const NONCE_BYTES = 16
const EXPIRY_BYTES = 6

/** For signing in with a passkey alone, in this browser. Every visitor of the page gets one, so we sign it and store nothing. */
export function newSignInChallenge(ctx: Pick<Context, 'config' | 'now' | 'browser'>): string {
  const expiry = Buffer.alloc(EXPIRY_BYTES)
  expiry.writeUIntBE(ctx.now() + CHALLENGE_MINUTES * MINUTE_MS, 0, EXPIRY_BYTES)
  const start = Buffer.concat([randomBytes(NONCE_BYTES), expiry])
  const signature = signatureOf(ctx.config.secretKey, 'passkey', signInText(ctx, start))
  return Buffer.concat([start, signature]).toString('base64url')
}

/** Uses up the challenge: true once per challenge, in its own browser. We keep its hash until it expires. */
export async function spendSignInChallenge(
  ctx: Pick<Context, 'db' | 'config' | 'now' | 'browser'>,
  challenge: string,
): Promise<boolean> {
  const bytes = Buffer.from(challenge, 'base64url')
  const start = bytes.subarray(0, NONCE_BYTES + EXPIRY_BYTES)
  const isOurs = isSignature(bytes.subarray(start.length), ctx.config.secretKey, 'passkey', signInText(ctx, start))
  if (!isOurs) return false
  const expiresAt = start.readUIntBE(NONCE_BYTES, EXPIRY_BYTES)
  if (expiresAt <= ctx.now()) return false
  // Hash what it says, not how it's written: the same bytes have several spellings.
  const row = { hash: hashOf(bytes.toString('base64url')), browser: hashOf(ctx.browser), expiresAt }
  const spent = ctx.db.insert(passkeyChallenges).values({ ...row, purpose: 'sign_in' })
  return (await spent.onConflictDoNothing()).rowsAffected > 0
}

function signInText({ browser }: Pick<Context, 'browser'>, start: Buffer): string {
  return `${browser}\n${start.toString('base64url')}`
}

/** @param of the columns `user_id` and `link`, and where they come from: an SQL query */
export function keepChallengeQuery(
  ctx: Pick<Context, 'db' | 'now' | 'browser'>,
  hash: string,
  purpose: Purpose,
  of: SQL,
) {
  return ctx.db.run(sql`
    INSERT INTO passkey_challenges (hash, purpose, browser, expires_at, user_id, link)
    SELECT ${hash}, ${purpose}, ${hashOf(ctx.browser)}, ${ctx.now() + CHALLENGE_MINUTES * MINUTE_MS}, of.* FROM (${of}) of`)
}

/** An SQL condition on `passkey_challenges`: this browser may still answer it. */
export function isOpenChallenge(ctx: Pick<Context, 'now' | 'browser'>, hash: string, purpose: Purpose): SQL {
  return sql`hash = ${hash} AND purpose = ${purpose} AND browser = ${hashOf(ctx.browser)} AND expires_at > ${ctx.now()}`
}

/** What one of the account's passkeys must sign to confirm an act, once, in this browser. @throws too_many */
export async function confirmOptions(ctx: Context, userId: string, verified: boolean): Promise<RequestOptions> {
  await limitPerson(ctx, 'ask_passkey', userId)
  const { challenge, hash } = newPasskeyChallenge()
  await keepChallengeQuery(ctx, hash, 'confirm', sql`SELECT id, NULL FROM users WHERE id = ${userId}`)
  return requestOptions(ctx, challenge, await listPasskeys(ctx, userId), verified)
}

/** After the right password: the passkey must sign the challenge that the password brought. */
export async function secondFactorOptions(
  ctx: Pick<Context, 'db' | 'config'>,
  userId: string,
  challenge: string,
): Promise<RequestOptions> {
  return requestOptions(ctx, challenge, await listPasskeys(ctx, userId))
}

/**
 * Checks an answer by one of the account's passkeys.
 * @param asked `challenge`: what it had to sign; null: a challenge for confirming acts, which the act uses up. `verified`: its
 * device must have verified its owner
 * @throws invalid_code
 */
export async function checkPasskey(
  ctx: Context,
  userId: string,
  answer: PasskeyResponse,
  { challenge, verified }: { challenge: string | null; verified: boolean },
): Promise<Proven> {
  // Read the counter before the challenge, so that a double click doesn't look like a copied passkey.
  const row = await findPasskey(ctx, answer)
  if (row?.userId !== userId) throw wrongPasskey()
  if (challenge !== null) {
    const askedUntil = sql`SELECT expires_at FROM sign_in_challenges WHERE hash = ${hashOf(challenge)}`
    return usePasskey(ctx, { challenge, askedUntil, verified, alone: false }, row, answer)
  }
  const signed = signedChallenge(answer)
  const isOpen = sql`${isOpenChallenge(ctx, hashOf(signed), 'confirm')} AND user_id = ${userId}`
  if (!(await ctx.db.$count(passkeyChallenges, isOpen))) throw wrongPasskey()
  const askedUntil = sql`SELECT expires_at FROM passkey_challenges WHERE ${isOpen}`
  const isAsked = sql`EXISTS (${askedUntil})`
  const proven = await usePasskey(ctx, { challenge: signed, askedUntil, verified, alone: false }, row, answer)
  return {
    ...proven,
    holds: sql`(${proven.holds} AND ${isAsked})`,
    spendQueries: (done) => [
      ctx.db.run(sql`DELETE FROM passkey_challenges WHERE ${isOpen} AND ${done}`),
      ...proven.spendQueries(sql`NOT ${isAsked}`),
    ],
  }
}

/** The passkey that says it answered; null: we don't know it. */
export async function findPasskey(ctx: Pick<Context, 'db'>, { id }: PasskeyResponse) {
  if (typeof id !== 'string') return null
  const [row] = await ctx.db.select().from(passkeys).where(eq(passkeys.credentialId, id))
  return row ?? null
}

/** A passkey's answer to `challenge`. `askedUntil`: an SQL query for when that expires, which finds nothing once it was answered. */
type Asked = { challenge: string; askedUntil: SQL; verified: boolean; alone: boolean }

/** After `spendSignInChallenge`: nothing else says who it is, so the device must have verified its owner. */
export function askedAlone(challenge: string): Asked {
  const askedUntil = sql`SELECT expires_at FROM passkey_challenges WHERE hash = ${hashOf(challenge)}`
  return { challenge, askedUntil, verified: true, alone: true }
}

/**
 * Checks a signature and the passkey's counter, which must have grown: otherwise someone else uses a copy, and its owner
 * gets an email. Devices that don't count always say 0.
 * @throws invalid_code
 */
export async function usePasskey(
  ctx: Context,
  asked: Asked,
  row: PasskeyRow,
  answer: PasskeyResponse,
): Promise<Proven> {
  const verified = await verifyAnswer(ctx, asked, row, answer)
  if (!verified) throw wrongPasskey()
  if (asked.alone && row.waitsForPassword) throw new AppError('forbidden', PASSKEY_WAITS)
  const { counter } = verified
  const grew = sql`id = ${row.id} AND (counter < ${counter} OR (counter = 0 AND ${counter} = 0))`
  const holds = sql`EXISTS (SELECT 1 FROM passkeys WHERE ${grew} ${asked.alone ? sql`AND NOT waits_for_password` : sql``})`
  if (counter <= row.counter && (counter || row.counter)) throw await copied(ctx, row, asked)
  return {
    holds,
    spendQueries: (done) => [
      // If it wasn't used alone, the password was used beside it.
      ctx.db.run(sql`UPDATE passkeys SET counter = ${counter}, last_used_at = ${ctx.now()}, waits_for_password = 0
        WHERE ${grew} AND ${done}`),
    ],
    lapsed: wrongPasskey,
  }
}

async function copied(
  ctx: Context,
  { id, userId, lastUsedAt, createdAt }: PasskeyRow,
  { challenge, askedUntil }: Asked,
): Promise<AppError> {
  const [asked] = await ctx.db.all<{ until: number }>(sql`SELECT (${askedUntil}) AS until`)
  const askedAt = (asked?.until ?? 0) - CHALLENGE_MINUTES * MINUTE_MS
  // It may have signed before its last use, in a form that was sent late.
  if (askedAt < (lastUsedAt ?? createdAt)) return wrongPasskey()
  ctx.log('passkey_counter_back', { userId, passkeyId: id })
  const cause = `passkey counter ${id} ${hashOf(challenge)}`
  const owner = sql`(SELECT email FROM users WHERE id = ${userId})`
  const when = fewToday(ctx, owner, 'passkey_copied', COPIED_MAILS)
  await writeBatch(ctx.db, [mailQuery(ctx, owner, passkeyCopiedMail(siteOrigin(ctx)), when, cause)])
  ctx.background(deliverMail(ctx))
  return new AppError('invalid_code', PASSKEY_COPIED, { field: 'totp' })
}

export function wrongPasskey(): AppError {
  return new AppError('invalid_code', PASSKEY_WRONG, { field: 'totp' })
}
