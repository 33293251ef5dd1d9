import { and, eq, sql } from 'drizzle-orm'
import { secrets } from '../../../db/schema/fleet.ts'
import { deriveKeys } from '../crypto/keys.ts'
import type { Context } from '../runtime/context.ts'
import { openSecret, sealSecret } from './secrets.ts'

const BATCH = 500

/** Re-encrypts secrets under an earlier SECRET_KEY, so that you can drop that key. Run by cron, every night. */
export async function renewRunSecrets(ctx: Pick<Context, 'db' | 'config' | 'log'>): Promise<void> {
  const { secretKey } = ctx.config
  const [{ id: keyId }] = deriveKeys(secretKey, 'secret')
  const rows = await ctx.db
    .select()
    .from(secrets)
    .where(sql`substr(sealed, 1, ${keyId.length}) <> ${keyId}`)
    .limit(BATCH)
  for (const { userId, name, sealed } of rows)
    try {
      const renewed = sealSecret(secretKey, userId, name, openSecret(secretKey, userId, name, sealed))
      // Unless someone changed it in between.
      await ctx.db
        .update(secrets)
        .set({ sealed: renewed })
        .where(and(eq(secrets.userId, userId), eq(secrets.name, name), eq(secrets.sealed, sealed)))
    } catch (error) {
      ctx.log('secret_lost', { userId, name }, error)
    }
}
