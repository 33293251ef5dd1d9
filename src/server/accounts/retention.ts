import { and, isNotNull, isNull, lt } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { alerts, contactMessages, outbox, serverRequests, signIns, stripeEvents } from '../../../db/schema.ts'
import { DAY_MS } from '../../domain/instant.ts'
import type { Context } from '../context.ts'
import { forgetLinks } from './email-tokens.ts'

/** A link tells for so long whom it was for, so that its holder need not type the address again. */
const LINK_DAYS = 30
/** For the owner's own questions: which device was that, when was I written to. Stripe sends an event again for up to 30 days. */
const TRACE_DAYS = 90
/** They only keep the operator from being told the same thing twice in an hour. */
const ALERT_DAYS = 1

/** Forgets what nobody needs any more. The truth of servers and money is kept. */
export async function forgetTraces(ctx: Pick<Context, 'db' | 'now'>): Promise<void> {
  const daysAgo = (days: number) => ctx.now() - days * DAY_MS
  const traces = daysAgo(TRACE_DAYS)
  await writeBatch(ctx.db, [
    forgetLinks(ctx, daysAgo(LINK_DAYS)),
    ctx.db.delete(signIns).where(lt(signIns.expiresAt, traces)),
    ctx.db.delete(stripeEvents).where(lt(stripeEvents.receivedAt, traces)),
    ctx.db.delete(outbox).where(and(isNotNull(outbox.sentAt), lt(outbox.sentAt, traces))),
    // Given up: nobody will send it.
    ctx.db.delete(outbox).where(and(isNull(outbox.sentAt), isNull(outbox.sendAt), lt(outbox.createdAt, traces))),
    ctx.db.delete(contactMessages).where(lt(contactMessages.createdAt, traces)),
    ctx.db.delete(serverRequests).where(lt(serverRequests.createdAt, traces)),
    ctx.db.delete(alerts).where(lt(alerts.toldAt, daysAgo(ALERT_DAYS))),
  ])
}
