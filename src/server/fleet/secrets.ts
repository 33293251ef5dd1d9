import { asc, eq } from 'drizzle-orm'
import { secrets } from '../../../db/schema.ts'
import { toIso } from '../../domain/instant.ts'
import type { StoredSecret } from '../../domain/wire.ts'
import type { Context } from '../context.ts'
import { seal, unseal } from '../sealed.ts'

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
    .where(eq(secrets.userId, userId))
    .orderBy(asc(secrets.name))
  return rows.map(({ name, updatedAt }) => ({ name, updated_at: toIso(updatedAt) }))
}
