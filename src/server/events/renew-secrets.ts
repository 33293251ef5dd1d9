import { sql } from 'drizzle-orm'
import type { WebhookSecret } from '../../../db/schema/events.ts'
import { deriveKeys } from '../crypto/keys.ts'
import type { Context } from '../runtime/context.ts'
import { liveSecrets, openSecret, sealSecret } from './secrets.ts'

const BATCH = 500

/**
 * Deletes replaced secrets that have expired, and re-encrypts those under an earlier SECRET_KEY, so that you can drop
 * that key. Run by cron, every night.
 */
export async function renewSecrets(ctx: Pick<Context, 'db' | 'now' | 'config' | 'log'>): Promise<void> {
  const { secretKey } = ctx.config
  const [{ id: keyId }] = deriveKeys(secretKey, 'webhook')
  const rows = await ctx.db.all<{ id: string; secrets: string }>(sql`SELECT id, secrets FROM webhook_endpoints
    WHERE EXISTS (SELECT 1 FROM json_each(secrets) WHERE json_extract(value, '$.endsAt') <= ${ctx.now()}
      OR substr(json_extract(value, '$.sealed'), 1, ${keyId.length}) <> ${keyId}) LIMIT ${BATCH}`)
  for (const { id, secrets } of rows)
    try {
      const renewed = liveSecrets(JSON.parse(secrets) as WebhookSecret[], ctx.now()).map(({ sealed, endsAt }) => ({
        sealed: sealed.startsWith(keyId) ? sealed : sealSecret(secretKey, id, openSecret(secretKey, id, sealed)),
        endsAt,
      }))
      // Unless someone rotated it in between.
      await ctx.db.run(sql`UPDATE webhook_endpoints SET secrets = ${JSON.stringify(renewed)}
        WHERE id = ${id} AND secrets = ${secrets}`)
    } catch (error) {
      ctx.log('webhook_secret_lost', { webhookId: id }, error)
    }
}
