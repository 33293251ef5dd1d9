import { createHash, hkdfSync, randomBytes, randomInt } from 'node:crypto'
import { and, eq, gt, isNotNull, isNull, sql } from 'drizzle-orm'
import { isUniqueViolation } from '../../../db/client.ts'
import { apiTokens, deviceLogins, users } from '../../../db/schema/accounts.ts'
import { DEFAULT_TOKEN_DAYS, newApiToken, SECRET_LENGTH, type TokenScope } from '../../domain/api-token.ts'
import { DEVICE_LOGIN_MS, deviceName, freeTokenName, newUserCode, POLL_EVERY_MS } from '../../domain/device-code.ts'
import { AppError } from '../../domain/error.ts'
import { MINUTE_MS } from '../../domain/instant.ts'
import type { User } from '../../domain/wire/accounts.ts'
import { newId } from '../crypto/id.ts'
import { deriveKeys } from '../crypto/keys.ts'
import { type Caller, limitCalls, limitPerson } from '../limits/limits.ts'
import type { Context } from '../runtime/context.ts'
import { createApiToken, hashApiToken, listApiTokens } from './api-tokens.ts'
import type { Proof } from './credentials/current-password.ts'
import { isLiveToken, isUsableAccount } from './live-sign-ins.ts'

type DeviceLogin = typeof deviceLogins.$inferSelect

/** Stores a program's request for a token. @throws too_many */
export async function requestDeviceLogin(
  ctx: Context,
  caller: Caller,
  asked: { scope: TokenScope; name: string; address: string | null },
): Promise<{ deviceCode: string; userCode: string }> {
  await limitCalls(ctx, 'device', caller)
  const now = ctx.now()
  for (let attempt = 1; ; attempt++) {
    const deviceCode = randomBytes(32).toString('base64url')
    const row = {
      id: newId('dev'),
      deviceHash: hashDeviceCode(deviceCode),
      userCode: newUserCode(randomInt),
      deviceName: deviceName(asked.name),
      scope: asked.scope,
      address: asked.address,
      createdAt: now,
      expiresAt: now + DEVICE_LOGIN_MS,
      pollEveryMs: POLL_EVERY_MS,
    }
    try {
      await ctx.db.insert(deviceLogins).values(row)
      return { deviceCode, userCode: row.userCode }
    } catch (error) {
      if (!isUniqueViolation(error) || attempt === 3) throw error
    }
  }
}

/** What a user code stands for, and a name for its token. @throws not_found, too_many */
export async function getDeviceLogin(ctx: Context, user: User, userCode: string | null) {
  const login = await lookUp(ctx, user, userCode)
  const taken = (await listApiTokens(ctx, user.id)).map(({ name }) => name)
  return { ...login, tokenName: freeTokenName(login.deviceName, taken) }
}

/** Viewing, approving, and refusing count together: nobody can try many codes. */
async function lookUp(ctx: Context, user: User, userCode: string | null): Promise<DeviceLogin> {
  await limitPerson(ctx, 'user_code', user.id)
  return getOpen(ctx, userCode)
}

async function getOpen(ctx: Context, userCode: string | null): Promise<DeviceLogin> {
  const [login] = userCode
    ? await ctx.db
        .select()
        .from(deviceLogins)
        .where(and(eq(deviceLogins.userCode, userCode), isOpen(ctx.now())))
    : []
  if (login) return login
  throw new AppError(
    'not_found',
    'This code is wrong, used, or older than 10 minutes. Run the command again for a new one.',
    {
      field: 'user_code',
    },
  )
}

function isOpen(now: number) {
  return and(isNull(deviceLogins.tokenId), isNull(deviceLogins.deniedAt), gt(deviceLogins.expiresAt, now))
}

/**
 * Approves the program: creates its token, which it then fetches. We derive the token from our secret and the device
 * code's hash, so it is stored nowhere in the meantime.
 * @throws not_found, invalid, conflict, too_many
 */
export async function approveDeviceLogin(
  ctx: Context,
  user: User,
  { userCode, name, ...proof }: { userCode: string | null; name: string } & Proof,
): Promise<void> {
  const login = await lookUp(ctx, user, userCode)
  const [token = ''] = tokensOf(ctx, login)
  const now = ctx.now()
  const open = sql`EXISTS (SELECT 1 FROM device_logins WHERE id = ${login.id} AND token_id IS NULL
    AND denied_at IS NULL AND expires_at > ${now})`
  const { scope } = login
  const wanted = { name, scope, days: DEFAULT_TOKEN_DAYS, ...proof }
  await createApiToken(ctx, user, wanted, {
    token,
    when: open,
    after: (id) => [
      // The program polls every few seconds, so give it one more moment at the end.
      ctx.db.run(sql`UPDATE device_logins SET token_id = ${id}, expires_at = max(expires_at, ${now + MINUTE_MS})
        WHERE id = ${login.id} AND EXISTS (SELECT 1 FROM api_tokens WHERE id = ${id})`),
    ],
  }).catch(async (error) => {
    // Someone may have answered a moment earlier.
    await getOpen(ctx, userCode)
    throw error
  })
}

/** @throws not_found, too_many */
export async function denyDeviceLogin(ctx: Context, user: User, userCode: string | null): Promise<void> {
  const { id } = await lookUp(ctx, user, userCode)
  await ctx.db
    .update(deviceLogins)
    .set({ deniedAt: ctx.now() })
    .where(and(eq(deviceLogins.id, id), isOpen(ctx.now())))
}

/** RFC 8628, 3.5: why there is no token. */
type NoToken = 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token' | 'invalid_grant'
type Granted = { token: string; scope: TokenScope; expiresAt: number }

/** Answers the program's poll. It gets its token once. */
export async function pollDeviceLogin(ctx: Context, deviceCode: string): Promise<Granted | NoToken> {
  const now = ctx.now()
  const deviceHash = hashDeviceCode(deviceCode)
  const [[login], [made]] = await ctx.db.batch([
    ctx.db.select().from(deviceLogins).where(eq(deviceLogins.deviceHash, deviceHash)),
    ctx.db
      .select({ hash: apiTokens.hash, scope: apiTokens.scope, expiresAt: apiTokens.expiresAt })
      .from(apiTokens)
      .innerJoin(deviceLogins, eq(deviceLogins.tokenId, apiTokens.id))
      .innerJoin(users, eq(users.id, apiTokens.userId))
      .where(and(eq(deviceLogins.deviceHash, deviceHash), isLiveToken(now), isUsableAccount())),
    ctx.db.run(sql`UPDATE device_logins SET last_polled_at = ${now},
      poll_every_ms = poll_every_ms + CASE WHEN last_polled_at > ${now} - poll_every_ms THEN ${POLL_EVERY_MS} ELSE 0 END
      WHERE device_hash = ${deviceHash}`),
  ])
  if (!login) return 'invalid_grant'
  if (login.claimedAt !== null || login.expiresAt <= now) return 'expired_token'
  if (login.deniedAt !== null) return 'access_denied'
  if (login.tokenId === null)
    return login.lastPolledAt !== null && login.lastPolledAt > now - login.pollEveryMs
      ? 'slow_down'
      : 'authorization_pending'
  const token = tokensOf(ctx, login).find((one) => hashApiToken(one) === made?.hash)
  // Revoked since, or our secret changed.
  if (!made || !token) return 'access_denied'
  const { rowsAffected } = await ctx.db
    .update(deviceLogins)
    .set({ claimedAt: now })
    .where(and(eq(deviceLogins.id, login.id), isNull(deviceLogins.claimedAt), isNotNull(deviceLogins.tokenId)))
  return rowsAffected ? { token, scope: made.scope, expiresAt: made.expiresAt } : 'expired_token'
}

function hashDeviceCode(code: string): string {
  return createHash('sha256').update(code).digest('base64url')
}

/** With our newest secret first. */
function tokensOf(ctx: Context, { deviceHash }: DeviceLogin): string[] {
  return deriveKeys(ctx.config.secretKey, 'device-token').map(({ key }) => {
    const bytes = new DataView(hkdfSync('sha256', key, deviceHash, 'api token', 4 * SECRET_LENGTH))
    let at = 0
    return newApiToken((below) => bytes.getUint32(4 * at++) % below)
  })
}
