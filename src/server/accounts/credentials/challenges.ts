import { randomBytes } from 'node:crypto'
import { and, eq, gt, lt, type SQL, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { passkeyChallenges, passkeys, signInChallenges, users } from '../../../../db/schema/accounts.ts'
import { line } from '../../../../db/schema/line.ts'
import { AppError } from '../../../domain/error.ts'
import {
  CHALLENGE_MINUTES,
  CHALLENGE_OVER,
  CHALLENGE_TRIES,
  FACTOR_REQUIRED,
  type FactorMethod,
  type GivenFactor,
  readFactor,
} from '../../../domain/factor.ts'
import { MINUTE_MS } from '../../../domain/instant.ts'
import { INVALID_CREDENTIALS } from '../../../domain/user.ts'
import { limitCalls, mayStill } from '../../limits/limits.ts'
import { deliverMail } from '../../mail/outbox.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'
import { keepFactorQueries } from '../keep-factor.ts'
import { type Attempt, type Device, newSignIn, type Proved, type SignedIn, signInQueries } from '../new-sign-in.ts'
import { noteRefusedQuery } from '../refused-sign-ins.ts'
import { hashOf, secondFactorOptions } from './passkeys.ts'
import type { Proven } from './proven.ts'
import { checkFactor, factorSecret, getFactors } from './second-factor.ts'
import type { RequestOptions } from './webauthn.ts'

/** A challenge for someone who typed the right password of an account with a second factor. @throws invalid_credentials */
export async function newChallenge(
  ctx: Context,
  user: { id: string; passwordHash: string },
  { userAgent, address, newBrowser }: Device & { newBrowser: boolean },
): Promise<string> {
  const challenge = randomBytes(32).toString('base64url')
  // A password change during our check ends every challenge, so no new one may follow it.
  const { rowsAffected } = await ctx.db.run(sql`
    INSERT INTO sign_in_challenges (hash, user_id, browser, expires_at, new_browser, user_agent, address)
    SELECT ${hashOf(challenge)}, id, ${hashOf(ctx.browser)}, ${ctx.now() + CHALLENGE_MINUTES * MINUTE_MS},
      ${newBrowser}, ${userAgent}, ${address} FROM users
    WHERE id = ${user.id} AND password_hash = ${user.passwordHash} AND closed_at IS NULL`)
  if (!rowsAffected) throw new AppError('invalid_credentials', INVALID_CREDENTIALS)
  return challenge
}

/**
 * For the batch that sets a new password. Ends open challenges, makes passkeys wait until they are used beside the new
 * password, and has the line hold a place instead of starting what someone else may have requested.
 * @param when an SQL condition
 */
export function newPasswordQueries(ctx: Pick<Context, 'db'>, userId: string, when: SQL) {
  return [
    ...[signInChallenges, passkeyChallenges].map((table) =>
      ctx.db.delete(table).where(and(eq(table.userId, userId), when)),
    ),
    ctx.db
      .update(passkeys)
      .set({ waitsForPassword: true })
      .where(and(eq(passkeys.userId, userId), when)),
    ctx.db
      .update(line)
      // A start already under way continues, but no further one follows: see `endedQuery`.
      .set({ start: sql`start AND session_id IS NOT NULL`, wishes: sql`json_set(wishes, '$.startsOnce', 1)` })
      .where(and(eq(line.userId, userId), when)),
  ]
}

/** For the batch that signs in: what this browser began earlier is then known to be its owner's. @param isIn an SQL condition */
export function endChallengesQuery(ctx: Pick<Context, 'db' | 'browser'>, userId: string, isIn: SQL) {
  const own = and(eq(signInChallenges.userId, userId), eq(signInChallenges.browser, hashOf(ctx.browser)))
  return ctx.db.delete(signInChallenges).where(and(own, isIn))
}

/** Who an open challenge is for; null if it's over or belongs to another browser. */
export async function findChallenge(
  ctx: Pick<Context, 'db' | 'now' | 'browser'>,
  challenge: string,
): Promise<{ userId: string; email: string; passwordHash: string } | null> {
  const [found] = await ctx.db
    .select({ userId: users.id, email: users.email, passwordHash: users.passwordHash })
    .from(signInChallenges)
    .innerJoin(users, eq(users.id, signInChallenges.userId))
    .where(isOpen(ctx, challenge))
  return found ?? null
}

/** How this account can prove a second factor, and what a passkey must sign, which is the challenge itself. */
export async function waysToAnswer(
  ctx: Pick<Context, 'db' | 'config'>,
  userId: string,
  challenge: string,
): Promise<{ methods: FactorMethod[]; passkey?: RequestOptions }> {
  const { totp, recovery_codes, passkeys } = await getFactors(ctx, userId)
  const has: Record<FactorMethod, boolean> = {
    passkey: passkeys.length > 0,
    totp: totp !== null,
    recovery: recovery_codes.left > 0,
  }
  const methods = (Object.keys(has) as FactorMethod[]).filter((method) => has[method])
  return has.passkey ? { methods, passkey: await secondFactorOptions(ctx, userId, challenge) } : { methods }
}

function isOpen(ctx: Pick<Context, 'now' | 'browser'>, challenge: string) {
  return and(
    eq(signInChallenges.hash, hashOf(challenge)),
    eq(signInChallenges.browser, hashOf(ctx.browser)),
    gt(signInChallenges.expiresAt, ctx.now()),
    lt(signInChallenges.tries, CHALLENGE_TRIES),
  )
}

/**
 * Signs in someone who proves a second factor after the right password.
 * @throws unauthenticated: start over. invalid, invalid_code, too_many
 */
export async function answerChallenge(
  ctx: Context,
  { challenge, ...given }: { challenge: string } & GivenFactor,
  device: Device,
  { knownDevice, ...caller }: Attempt,
): Promise<SignedIn> {
  const factor = readFactor(given)
  if (!factor) throw new AppError('invalid', FACTOR_REQUIRED, { field: 'totp' })
  const found = await findChallenge(ctx, challenge)
  const proved = { passwordHash: found?.passwordHash ?? '', hasFactor: true }
  const known = found && knownDevice?.(found.email, proved)
  const isKnown = found && known && (await mayStill(ctx, 'known_sign_in', found.email))
  if (!isKnown) await limitCalls(ctx, 'second_factor', caller)
  if (!found) throw over()
  const { userId } = found
  // Counted before it is checked, so that simultaneous guesses all count.
  const { rowsAffected } = await ctx.db
    .update(signInChallenges)
    .set({ tries: sql`tries + 1` })
    .where(isOpen(ctx, challenge))
  if (!rowsAffected) throw over()
  const proven = await checkFactor(ctx, userId, factor, {
    guesses: factorSecret(userId, known ?? ''),
    challenge,
  }).catch((error) => {
    if (error instanceof AppError && error.code === 'invalid_code')
      ctx.background(noteRefusedQuery(ctx, 'code', sql`id = ${userId}`, device))
    throw error
  })
  return finish(ctx, userId, { hash: hashOf(challenge), proven, device, isNew: !known, proved })
}

/** A password change, or another call with this challenge, may have ended it in the meantime. */
async function finish(
  ctx: Context,
  userId: string,
  given: { hash: string; proven: Proven; device: Device; isNew: boolean; proved: Proved },
): Promise<SignedIn> {
  const { hash, proven, device, isNew, proved } = given
  const row = newSignIn(ctx)
  const isThere = sql`EXISTS (SELECT 1 FROM sign_in_challenges WHERE hash = ${hash})`
  const isIn = sql`EXISTS (SELECT 1 FROM sign_ins WHERE id = ${row.id})`
  const hand = { db: ctx.db, now: ctx.now, by: { id: userId, reason: 'The owner signed in with it.' } }
  const whose = { id: userId, email: sql`(SELECT email FROM users WHERE id = ${userId})` }
  const [made] = await writeBatch(ctx.db, [
    ...(await signInQueries(ctx, row, device, {
      isNew,
      whose: sql`id = ${userId} AND closed_at IS NULL AND ${isThere} AND ${proven.holds}`,
    })),
    ...proven.spendQueries(isIn),
    // They just used it, so it isn't lost.
    ...keepFactorQueries(hand, whose, siteOrigin(ctx), isIn),
    endChallengesQuery(ctx, userId, isIn),
  ])
  const [user] = await ctx.db
    .select({ id: users.id, name: users.name, email: users.email, admin: users.admin })
    .from(users)
    .where(eq(users.id, userId))
  if (!made?.rowsAffected || !user)
    throw (await ctx.db.$count(signInChallenges, eq(signInChallenges.hash, hash))) ? proven.lapsed() : over()
  ctx.background(deliverMail(ctx))
  return { user, signIn: row, proved }
}

function over(): AppError {
  return new AppError('unauthenticated', CHALLENGE_OVER)
}
