import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import { type RunRow, type SecretRow, secrets } from '../../../db/schema/fleet.ts'
import { AppError } from '../../domain/error.ts'
import { toIso } from '../../domain/instant.ts'
import type { RegistryLogin, StoredSecret } from '../../domain/wire/accounts.ts'
import { seal, unseal } from '../crypto/sealed.ts'
import type { Context } from '../runtime/context.ts'
import type { World } from './worlds.ts'

/** A condition on rows of `secrets`. */
export const IS_VALUE = sql`username IS NULL`
export const IS_LOGIN = sql`username IS NOT NULL`

const sealOf = (secretKey: string, userId: string, name: string) =>
  ({ secretKey, purpose: 'secret', of: `${userId}/${name}` }) as const

/** For the database, for this name of this account only. */
export function sealSecret(secretKey: string, userId: string, name: string, value: string): string {
  return seal(sealOf(secretKey, userId, name), value)
}

/** @throws if SECRET_KEY no longer holds its key, or someone changed the row */
export function openSecret(secretKey: string, userId: string, name: string, sealed: string): string {
  return unseal(sealOf(secretKey, userId, name), sealed)
}

/** By name, without their values. */
export async function listSecrets(ctx: Pick<Context, 'db'>, userId: string): Promise<StoredSecret[]> {
  const rows = await ctx.db
    .select({ name: secrets.name, updatedAt: secrets.updatedAt })
    .from(secrets)
    .where(and(eq(secrets.userId, userId), IS_VALUE))
    .orderBy(asc(secrets.name))
  return rows.map(({ name, updatedAt }) => ({ name, updated_at: toIso(updatedAt) }))
}

/** By host, without their tokens. */
export async function listRegistries(ctx: Pick<Context, 'db'>, userId: string): Promise<RegistryLogin[]> {
  const rows = await ctx.db
    .select({ host: secrets.name, username: sql<string>`username`, updatedAt: secrets.updatedAt })
    .from(secrets)
    .where(and(eq(secrets.userId, userId), IS_LOGIN))
    .orderBy(asc(secrets.name))
  return rows.map(({ updatedAt, ...login }) => ({ ...login, updated_at: toIso(updatedAt) }))
}

/** @throws invalid if the environment is the catalog's, or one of these isn't theirs */
export async function requireSecrets(
  ctx: Pick<Context, 'db'>,
  userId: string,
  names: string[],
  { isOwn }: World,
): Promise<void> {
  const field = 'secrets'
  if (!isOwn)
    throw new AppError('invalid', `Only your own images get secrets, so this start can't have ${names[0]}.`, { field })
  const known = await ctx.db.select({ name: secrets.name }).from(secrets).where(isNamed(userId, names))
  const missing = names.find((name) => !known.some((one) => one.name === name))
  if (missing !== undefined) throw new AppError('invalid', `You have no secret ${missing}.`, { field })
}

/** What this run's container gets. A deleted one is null: then its machine starts nothing. */
export async function openSecretsOf(
  ctx: Pick<Context, 'db' | 'config' | 'log'>,
  { userId, secrets: names }: Pick<RunRow, 'userId' | 'secrets'>,
): Promise<Record<string, string | null>> {
  if (!names) return {}
  const rows = await ctx.db.select().from(secrets).where(isNamed(userId, names))
  const find = (name: string) => rows.find((one) => one.name === name)
  return Object.fromEntries(names.map((name) => [name, openRow(ctx, find(name))]))
}

/** The login that pulls this run's image, until its container starts. Null: there is none, or it was deleted. */
export async function openLoginOf(
  ctx: Pick<Context, 'db' | 'config' | 'log'>,
  { userId, registry: host, containerStartedAt }: Pick<RunRow, 'userId' | 'registry' | 'containerStartedAt'>,
): Promise<{ host: string; username: string; token: string } | null> {
  if (host === null || containerStartedAt !== null) return null
  const [row] = await ctx.db
    .select()
    .from(secrets)
    .where(isNamed(userId, [host]))
  const token = openRow(ctx, row)
  return row?.username && token !== null ? { host, username: row.username, token } : null
}

/** Null if there is none, or no key opens it. */
function openRow(ctx: Pick<Context, 'config' | 'log'>, row: SecretRow | undefined): string | null {
  if (!row) return null
  const { userId, name, sealed } = row
  try {
    return openSecret(ctx.config.secretKey, userId, name, sealed)
  } catch (error) {
    ctx.log('secret_lost', { userId, name }, error)
    return null
  }
}

const isNamed = (userId: string, names: string[]) => and(eq(secrets.userId, userId), inArray(secrets.name, names))
