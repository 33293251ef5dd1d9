import { createHash, randomInt } from 'node:crypto'
import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { BatchResponse } from 'drizzle-orm/batch'
import type { InferInput } from 'valibot'
import { type Query, writeBatch } from '../../../db/client.ts'
import { apiTokens, users } from '../../../db/schema/accounts.ts'
import { apiTokenForm, MAX_TOKENS, newApiToken, TOKEN_NAME_TAKEN, TOO_MANY_TOKENS } from '../../domain/api-token.ts'
import { AppError } from '../../domain/error.ts'
import { DAY_MS, MINUTE_MS, toIso } from '../../domain/instant.ts'
import type { ApiToken, User } from '../../domain/wire/accounts.ts'
import { newId } from '../crypto/id.ts'
import { limitPerson } from '../limits/limits.ts'
import { apiTokenMadeMail } from '../mail/account-letters.ts'
import { deliverMail, mailQuery } from '../mail/outbox.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { requireValid } from '../runtime/form-rules.ts'
import { type Proof, requireCurrentPassword } from './credentials/current-password.ts'
import {
  type CurrentSignIn,
  holderColumns,
  isLiveToken,
  isUsableAccount,
  NO_BELL,
  type Reads,
  toHolder,
} from './live-sign-ins.ts'

/** We write the last use at most this often. */
const USED_EVERY_MS = MINUTE_MS

/** A token has so many random bits that a fast hash keeps it safe. */
export function hashApiToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

type Making = {
  token?: string
  /** An SQL condition: no token is created unless it is true at that moment. */
  when?: SQL
  /** More writes for this batch, given the token's ID. */
  after?: (id: string) => Query[]
}

/**
 * Creates a token, emails its owner, and returns it. From then on, we only know its hash.
 * @throws invalid, conflict (a live token has this name, or there are too many), too_many
 */
export async function createApiToken(
  ctx: Context,
  user: User,
  input: InferInput<typeof apiTokenForm> & Proof,
  { token = newApiToken(randomInt), when = sql`1`, after = () => [] }: Making = {},
): Promise<ApiToken & { token: string }> {
  const { name, scope, days } = requireValid(apiTokenForm, input)
  await limitPerson(ctx, 'new_token', user.id)
  const proven = await requireCurrentPassword(ctx, user.id, input)
  const now = ctx.now()
  const row = { id: newId('tok'), name, scope, createdAt: now, expiresAt: now + days * DAY_MS }
  const live = sql`FROM api_tokens WHERE user_id = ${user.id} AND revoked_at IS NULL AND expires_at > ${now}`
  const isMade = sql`EXISTS (SELECT 1 FROM api_tokens WHERE id = ${row.id})`
  const [made] = await writeBatch(ctx.db, [
    // A password change during our check revoked every token, so no new one may follow it.
    ctx.db.run(sql`
      INSERT INTO api_tokens (id, hash, user_id, name, scope, created_at, expires_at)
      SELECT ${row.id}, ${hashApiToken(token)}, id, ${name}, ${scope}, ${now}, ${row.expiresAt} FROM users
      WHERE id = ${user.id} AND ${proven.holds} AND ${when}
      AND (SELECT count(*) ${live}) < ${MAX_TOKENS} AND NOT EXISTS (SELECT 1 ${live} AND name = ${name})`),
    mailQuery(ctx, user.email, apiTokenMadeMail(siteOrigin(ctx), row), isMade),
    ...proven.spendQueries(isMade),
    ...after(row.id),
  ])
  if (!made?.rowsAffected) throw (await whyNotMade(ctx, user.id, name)) ?? proven.lapsed()
  ctx.background(deliverMail(ctx))
  return { ...toApiToken({ ...row, lastUsedAt: null, lastAddress: null }), token }
}

async function whyNotMade(ctx: Context, userId: string, name: string): Promise<AppError | null> {
  const live = await listApiTokens(ctx, userId)
  if (live.some((token) => token.name === name)) return new AppError('conflict', TOKEN_NAME_TAKEN, { field: 'name' })
  return live.length >= MAX_TOKENS ? new AppError('conflict', TOO_MANY_TOKENS) : null
}

/** The user's live tokens, oldest first. */
export async function listApiTokens(ctx: Context, userId: string): Promise<ApiToken[]> {
  const rows = await ctx.db
    .select()
    .from(apiTokens)
    .where(and(eq(apiTokens.userId, userId), isLiveToken(ctx.now())))
    .orderBy(asc(apiTokens.createdAt))
  return rows.map(toApiToken)
}

type Listed = Omit<typeof apiTokens.$inferSelect, 'hash' | 'userId' | 'revokedAt'>

export function toApiToken(row: Listed): ApiToken {
  return {
    id: row.id,
    name: row.name,
    scope: row.scope,
    created_at: toIso(row.createdAt),
    expires_at: toIso(row.expiresAt),
    last_used_at: toIso(row.lastUsedAt),
    last_address: row.lastAddress,
  }
}

/** A live token of this user. @throws not_found */
export async function getApiToken(ctx: Context, userId: string, tokenId: string): Promise<ApiToken> {
  const found = (await listApiTokens(ctx, userId)).find(({ id }) => id === tokenId)
  if (!found) throw new AppError('not_found', 'API token not found.')
  return found
}

/** Ends a token and closes its sockets. @throws not_found, also for another user's */
export async function revokeApiToken(ctx: Context, userId: string, tokenId: string): Promise<void> {
  const [ended] = await ctx.db
    .update(apiTokens)
    .set({ revokedAt: ctx.now() })
    .where(and(eq(apiTokens.id, tokenId), eq(apiTokens.userId, userId), isNull(apiTokens.revokedAt)))
    .returning({ id: apiTokens.id })
  if (!ended) throw new AppError('not_found', 'API token not found.')
  ctx.background(ctx.channel(userId).disconnect([tokenId]))
}

/**
 * Ends all of a user's tokens, in the batch that sets a new password or closes the account.
 * @param when an SQL condition
 */
export function revokeTokensQuery(ctx: Pick<Context, 'db' | 'now'>, userId: string, when: SQL = sql`1`) {
  return ctx.db
    .update(apiTokens)
    .set({ revokedAt: ctx.now() })
    .where(and(eq(apiTokens.userId, userId), isNull(apiTokens.revokedAt), when))
    .returning({ id: apiTokens.id })
}

/** Finds a live token and its user, and runs the `along` reads in the same round trip. Like `findSignIn`, and returns the same shape. */
export async function findByApiToken<T extends Reads>(
  ctx: Pick<Context, 'db' | 'now'>,
  token: string,
  along: T,
): Promise<{ signIn: CurrentSignIn; use: LastUse; along: BatchResponse<T> } | null> {
  const found = ctx.db
    .select({
      id: apiTokens.id,
      expiresAt: apiTokens.expiresAt,
      scope: apiTokens.scope,
      tokenName: apiTokens.name,
      lastUsedAt: apiTokens.lastUsedAt,
      lastAddress: apiTokens.lastAddress,
      ...holderColumns(ctx),
    })
    .from(apiTokens)
    .innerJoin(users, eq(users.id, apiTokens.userId))
    .where(and(eq(apiTokens.hash, hashApiToken(token)), isLiveToken(ctx.now()), isUsableAccount()))
  const [[row], ...rows] = await ctx.db.batch([found, ...along])
  if (!row) return null
  const { id, expiresAt, scope, tokenName, lastUsedAt, lastAddress } = row
  return {
    signIn: { id, expiresAt, scope, tokenName, passwordAt: 0, bell: NO_BELL, ...toHolder(row) },
    use: { at: lastUsedAt, address: lastAddress },
    along: rows as unknown as BatchResponse<T>,
  }
}

/** The user of a token, for reads that run together with the search for it. */
export function userOfApiToken(token: string): SQL {
  return sql`(SELECT ${apiTokens.userId} FROM ${apiTokens} WHERE ${apiTokens.hash} = ${hashApiToken(token)})`
}

type LastUse = { at: number | null; address: string | null }

/** Records when and from where it was last used, for the owner's list. */
export async function noteTokenUse(
  ctx: Pick<Context, 'db' | 'now'>,
  id: string,
  last: LastUse,
  address: string | null,
): Promise<void> {
  if (last.at !== null && ctx.now() - last.at < USED_EVERY_MS && last.address === address) return
  await ctx.db.update(apiTokens).set({ lastUsedAt: ctx.now(), lastAddress: address }).where(eq(apiTokens.id, id))
}
