import { desc, eq, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { serverRequests } from '../../../db/schema/fleet.ts'
import { AppError } from '../../domain/error.ts'
import { HOUR_MS } from '../../domain/instant.ts'
import type { User } from '../../domain/wire/accounts.ts'
import { newId } from '../crypto/id.ts'
import { composeMail } from '../mail/letter.ts'
import { deliverMail, mailQuery } from '../mail/outbox.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'

const EVERY_MS = HOUR_MS

/**
 * Stores a request for more servers and emails the operator.
 * @throws too_many if the same user requested more within the hour
 */
export async function requestMoreServers(ctx: Context, user: User): Promise<void> {
  const now = ctx.now()
  const id = newId('req')
  const mail = composeMail('A customer requested more servers', [
    'A customer requested more servers. See the request in the console.',
    { label: 'Open the console', link: `${siteOrigin(ctx)}/console/messages` },
  ])
  // The database decides: two clicks at once count as one and send one email.
  const [kept] = await writeBatch(ctx.db, [
    ctx.db.run(sql`INSERT INTO server_requests (id, user_id, created_at) SELECT ${id}, ${user.id}, ${now}
      WHERE NOT EXISTS (SELECT 1 FROM server_requests WHERE user_id = ${user.id} AND created_at > ${now - EVERY_MS})`),
    mailQuery(ctx, ctx.config.operatorEmail, mail, sql`EXISTS (SELECT 1 FROM server_requests WHERE id = ${id})`),
  ])
  if (kept?.rowsAffected !== 1) throw await askedBefore(ctx, user, now)
  ctx.background(deliverMail(ctx))
}

async function askedBefore(ctx: Context, user: User, now: number): Promise<AppError> {
  const [recent] = await ctx.db
    .select({ createdAt: serverRequests.createdAt })
    .from(serverRequests)
    .where(eq(serverRequests.userId, user.id))
    .orderBy(desc(serverRequests.createdAt))
    .limit(1)
  return new AppError('too_many', "You already requested more servers in the last hour. We'll get back to you.", {
    retryAfter: Math.max(1, Math.ceil(((recent?.createdAt ?? now) + EVERY_MS - now) / 1000)),
  })
}
