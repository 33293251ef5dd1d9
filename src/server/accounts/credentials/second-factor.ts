import { and, count, eq, isNull, max } from 'drizzle-orm'
import { recoveryCodes } from '../../../../db/schema/accounts.ts'
import { AppError } from '../../../domain/error.ts'
import { CODE_WRONG, FACTOR_REQUIRED, type Factor, type GivenFactor, readFactor } from '../../../domain/factor.ts'
import { toIso } from '../../../domain/instant.ts'
import type { Passkey } from '../../../domain/wire/accounts.ts'
import { limitGuesses } from '../../limits/limits.ts'
import type { Context } from '../../runtime/context.ts'
import { checkPasskey, listPasskeys, toPasskey } from './passkeys.ts'
import type { Checked, Proven } from './proven.ts'
import { checkRecoveryCode } from './recovery-codes.ts'
import { checkTotp, findTotp } from './totp.ts'

/** The key for counting guesses at an account's codes. Each known device counts separately, and so do all other devices and sign-ins. */
export function factorSecret(userId: string, place: string): string {
  return `${userId} factor ${place}`
}

/**
 * Checks a factor. The act that it allows uses it up, so it counts once, however many calls send it. We limit guesses
 * at an app's codes, but not at recovery codes and passkeys: those can't be guessed, and let the owner in while someone
 * else is guessing.
 * @param at whose guesses they are; `challenge`: what a passkey had to sign, if it wasn't made for the purpose
 * @throws invalid_code, too_many
 */
export async function checkFactor(
  ctx: Context,
  userId: string,
  factor: Factor,
  { guesses, challenge = null, verified = false }: { guesses: string; challenge?: string | null; verified?: boolean },
): Promise<Proven> {
  if (factor.method === 'passkey') return checkPasskey(ctx, userId, factor.response, { challenge, verified })
  let right = null as Checked | null
  if (factor.method === 'recovery') right = await checkRecoveryCode(ctx, userId, factor.code)
  else
    await limitGuesses(ctx, guesses, async () => {
      right = await checkTotp(ctx, userId, factor.code)
      return right !== null
    })
  if (!right) throw wrongCode()
  return { ...right, lapsed: wrongCode }
}

function wrongCode(): AppError {
  return new AppError('invalid_code', CODE_WRONG, { field: 'totp' })
}

/**
 * For a signed-in person who has one.
 * @param verified it replaces the password, so a passkey's device must have verified its owner
 * @throws second_factor_required, invalid_code, too_many
 */
export async function requireFactor(
  ctx: Context,
  userId: string,
  given: GivenFactor,
  verified = false,
): Promise<Proven> {
  const factor = readFactor(given)
  if (!factor) throw new AppError('second_factor_required', FACTOR_REQUIRED, { field: 'totp' })
  return checkFactor(ctx, userId, factor, { guesses: factorSecret(userId, 'signed in'), verified })
}

/** What an account's page shows about its factors. */
export type Factors = {
  totp: { added_at: string; last_used_at: string | null } | null
  recovery_codes: { left: number; made_at: string | null }
  passkeys: Passkey[]
}

export async function getFactors(ctx: Pick<Context, 'db'>, userId: string): Promise<Factors> {
  const totp = await findTotp(ctx, userId)
  const [codes] = await ctx.db
    .select({ left: count(), madeAt: max(recoveryCodes.createdAt) })
    .from(recoveryCodes)
    .where(and(eq(recoveryCodes.userId, userId), isNull(recoveryCodes.usedAt)))
  return {
    totp: totp && { added_at: toIso(totp.confirmedAt ?? totp.createdAt), last_used_at: toIso(totp.lastUsedAt) },
    recovery_codes: { left: codes?.left ?? 0, made_at: toIso(codes?.madeAt ?? null) },
    passkeys: (await listPasskeys(ctx, userId)).map(toPasskey),
  }
}
