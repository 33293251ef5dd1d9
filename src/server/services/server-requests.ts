import { and, eq, gt } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { serverRequests } from '../../../db/schema.ts'
import { AppError } from '../../domain/error.ts'
import type { User } from '../../domain/wire.ts'
import { type Context, siteOrigin } from '../context.ts'
import { newId } from '../id.ts'
import { composeMail } from '../mails/mail-content.ts'
import { deliverMail, mailQuery } from './outbox.ts'

const EVERY_MS = 3_600_000

/**
 * Keeps the wish for more servers and tells the operator.
 * @throws too_many when the same user asked within the hour
 */
export async function requestMoreServers(ctx: Context, user: User): Promise<void> {
  const now = ctx.now()
  const [recent] = await ctx.db
    .select({ createdAt: serverRequests.createdAt })
    .from(serverRequests)
    .where(and(eq(serverRequests.userId, user.id), gt(serverRequests.createdAt, now - EVERY_MS)))
  if (recent)
    throw new AppError('too_many', 'You asked for more servers within the last hour. We will get back to you.', {
      retryAfter: Math.ceil((recent.createdAt + EVERY_MS - now) / 1000),
    })
  const mail = composeMail('A customer asks for more servers', [
    'A customer asks for more servers. The request waits in the console.',
    { label: 'Open the console', link: `${siteOrigin(ctx)}/console/messages` },
  ])
  await writeBatch(ctx.db, [
    ctx.db.insert(serverRequests).values({ id: newId('req'), userId: user.id, createdAt: now }),
    mailQuery(ctx, ctx.config.operatorEmail, mail),
  ])
  ctx.background(deliverMail(ctx))
}
