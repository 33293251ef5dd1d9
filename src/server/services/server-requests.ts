import { and, eq, gt } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { outbox, serverRequests } from '../../../db/schema.ts'
import { AppError } from '../../domain/error.ts'
import type { User } from '../../domain/wire.ts'
import type { Context } from '../context.ts'
import { newId } from '../id.ts'

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
  const text = `${user.name} <${user.email}> (${user.id}) asks for more servers.`
  await writeBatch(ctx.db, [
    ctx.db.insert(serverRequests).values({ id: newId('req'), userId: user.id, createdAt: now }),
    ctx.db.insert(outbox).values({
      id: newId('mail'),
      recipient: ctx.config.operatorEmail,
      subject: 'A customer asks for more servers',
      text,
      html: `<p>${escapeHtml(text)}</p>`,
      createdAt: now,
      sendAt: now,
    }),
  ])
}

const escapeHtml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
