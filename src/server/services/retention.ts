import { and, isNotNull, lt } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { emailTokens, outbox, signIns, stripeEvents } from '../../../db/schema.ts'
import type { Context } from '../context.ts'

const DAY = 86_400_000
/** A link tells for so long whom it was for, so that its holder need not type the address again. */
const LINK_DAYS = 30
/** For the owner's own questions: which device was that, when was I written to. Stripe sends an event again for up to 30 days. */
const TRACE_DAYS = 90

/** Forgets what nobody needs any more. The truth of servers and money is kept. */
export async function forgetTraces(ctx: Pick<Context, 'db' | 'now'>): Promise<void> {
  const [links, traces] = [ctx.now() - LINK_DAYS * DAY, ctx.now() - TRACE_DAYS * DAY]
  await writeBatch(ctx.db, [
    ctx.db.delete(emailTokens).where(lt(emailTokens.expiresAt, links)),
    ctx.db.delete(signIns).where(lt(signIns.expiresAt, traces)),
    ctx.db.delete(stripeEvents).where(lt(stripeEvents.receivedAt, traces)),
    ctx.db.delete(outbox).where(and(isNotNull(outbox.sentAt), lt(outbox.sentAt, traces))),
  ])
}
