import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { totps } from '../../../../db/schema/accounts.ts'
import { TOTP_PERIOD_S } from '../../../domain/factor.ts'
import { deriveKeys } from '../../crypto/keys.ts'
import { seal, unseal } from '../../crypto/sealed.ts'
import type { Context } from '../../runtime/context.ts'
import type { Checked } from './proven.ts'

const ISSUER = 'Proving Ground'
const SECRET_BYTES = 20
/** A phone's clock may be off by a step, and a person is slow. */
const STEPS_OFF = 1

/** What an app needs: the base32 secret to type, and the address that its QR code holds. */
export type NewTotp = { secret: string; uri: string }

const sealOf = (secretKey: string, userId: string) => ({ secretKey, purpose: 'totp', of: userId }) as const

export function sealTotp(secretKey: string, userId: string, secret: string): string {
  return seal(sealOf(secretKey, userId), secret)
}

export function openTotp(secretKey: string, userId: string, sealed: string): string {
  return unseal(sealOf(secretKey, userId), sealed)
}

/** Loaded when needed: few calls use it. */
const otpauth = () => import('otpauth')

async function totpOf(label: string, base32: string) {
  const { TOTP } = await otpauth()
  return new TOTP({ issuer: ISSUER, label, secret: base32, algorithm: 'SHA1', digits: 6, period: TOTP_PERIOD_S })
}

export async function newTotpSecret(): Promise<string> {
  const { Secret } = await otpauth()
  return new Secret({ size: SECRET_BYTES }).base32
}

/** @param label what the app shows beside our name */
export async function newTotp(label: string, secret: string): Promise<NewTotp> {
  return { secret, uri: (await totpOf(label, secret)).toString() }
}

/** The step that this code belongs to, now or one step off; null: it is wrong. */
export async function stepOf(ctx: Context, sealed: string, userId: string, code: string): Promise<number | null> {
  const now = ctx.now()
  const totp = await totpOf('', openTotp(ctx.config.secretKey, userId, sealed))
  const off = totp.validate({ token: code, timestamp: now, window: STEPS_OFF })
  return off === null ? null : Math.floor(now / 1000 / TOTP_PERIOD_S) + off
}

/** The account's confirmed app; null if there is none. */
export async function findTotp(ctx: Pick<Context, 'db'>, userId: string) {
  const [row] = await ctx.db
    .select()
    .from(totps)
    .where(and(eq(totps.userId, userId), isNotNull(totps.confirmedAt)))
  return row ?? null
}

/** Null: it is wrong, or it or one from a later step was used before. */
export async function checkTotp(ctx: Context, userId: string, code: string): Promise<Checked | null> {
  const row = await findTotp(ctx, userId)
  const step = row && (await stepOf(ctx, row.sealed, userId, code))
  if (!row || step === null || step <= row.lastStep) return null
  const unused = sql`user_id = ${userId} AND confirmed_at IS NOT NULL AND last_step < ${step}`
  return {
    holds: sql`EXISTS (SELECT 1 FROM totps WHERE ${unused})`,
    spendQueries: (done) => [
      ctx.db.run(sql`UPDATE totps SET last_step = ${step}, last_used_at = ${ctx.now()} WHERE ${unused} AND ${done}`),
    ],
  }
}

const BATCH = 500

/** Re-encrypts secrets under an earlier SECRET_KEY, so that you can drop that key. Run by cron, every night. */
export async function renewTotpSecrets(ctx: Pick<Context, 'db' | 'config' | 'log'>): Promise<void> {
  const { secretKey } = ctx.config
  const [{ id: keyId }] = deriveKeys(secretKey, 'totp')
  const rows = await ctx.db.select().from(totps).where(sql`substr(sealed, 1, ${keyId.length}) <> ${keyId}`).limit(BATCH)
  for (const { userId, sealed } of rows)
    try {
      const renewed = sealTotp(secretKey, userId, openTotp(secretKey, userId, sealed))
      // Unless its owner changed it in between.
      await ctx.db
        .update(totps)
        .set({ sealed: renewed })
        .where(and(eq(totps.userId, userId), eq(totps.sealed, sealed)))
    } catch (error) {
      ctx.log('totp_lost', { userId }, error)
    }
}
