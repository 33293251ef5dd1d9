import { and, asc, eq, isNotNull, isNull, lte, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { users } from '../../../db/schema/accounts.ts'
import { type DeliveryRow, type WebhookRow, webhookDeliveries, webhooks } from '../../../db/schema/events.ts'
import { DELIVERY_MS, KEPT_DELIVERIES, nextTry, webhookUrlFault } from '../../domain/webhook.ts'
import { tellQueries } from '../mail/notices.ts'
import { deliverMail } from '../mail/outbox.ts'
import { webhookOffMail } from '../mail/webhook-letters.ts'
import type { WebhookAnswer } from '../ports/webhooks.ts'
import { type Context, siteHosts, siteOrigin, withLogFields } from '../runtime/context.ts'
import { fourAtOnce } from '../runtime/four-at-once.ts'
import { liveSecrets, openSecret } from './secrets.ts'

/** The most events per look. The next look follows at once. */
const MOST_AT_ONCE = 50
/** How long a look owns a try. Longer than any try takes. */
const LEASE_MS = 60_000
/** Standard Webhooks: an endpoint that answers this wants no more events. */
const GONE = 410

type Due = { delivery: DeliveryRow; webhook: WebhookRow; email: string }

/**
 * Delivers a user's due events. Each endpoint gets its events in order, up to its first failure. Endpoints run side by
 * side, so one that hangs only holds up itself. Safe to repeat and to interrupt anywhere: receivers may get an event
 * twice, with the same ID.
 * @returns when something is due next (ms since 1970); null if nothing is
 */
export async function deliverDue(base: Context, userId: string): Promise<number | null> {
  const ctx = withLogFields(base, { userId })
  const due: Due[] = await ctx.db
    .select({ delivery: webhookDeliveries, webhook: webhooks, email: users.email })
    .from(webhookDeliveries)
    .innerJoin(webhooks, eq(webhooks.id, webhookDeliveries.webhookId))
    .innerJoin(users, eq(users.id, webhookDeliveries.userId))
    .where(and(eq(webhookDeliveries.userId, userId), lte(webhookDeliveries.nextAt, ctx.now())))
    // An event that its endpoint refuses must not keep the later ones from it.
    .orderBy(asc(webhookDeliveries.attempts), asc(webhookDeliveries.createdAt))
    .limit(MOST_AT_ONCE)
  const byWebhook = Map.groupBy(due, ({ webhook }) => webhook.id)
  await fourAtOnce([...byWebhook.values()], async (queue) => {
    for (const one of queue) if (!(await attempt(ctx, one))) break
  })
  const [next] = await ctx.db
    .select({ at: sql<number | null>`min(${webhookDeliveries.nextAt})` })
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.userId, userId), isNotNull(webhookDeliveries.nextAt)))
  return next?.at ?? null
}

/** @returns whether the endpoint may get its next event now */
async function attempt(ctx: Context, { delivery, webhook, email }: Due): Promise<boolean> {
  const now = ctx.now()
  const lease = now + LEASE_MS
  const isIt = and(eq(webhookDeliveries.webhookId, webhook.id), eq(webhookDeliveries.eventId, delivery.eventId))
  // If two looks run at once, only one gets it. Neither does if the webhook was deleted or switched off in the
  // meantime.
  const [claimed] = await ctx.db
    .update(webhookDeliveries)
    .set({ attempts: sql`attempts + 1`, triedAt: now, nextAt: lease })
    .where(and(isIt, eq(webhookDeliveries.nextAt, delivery.nextAt ?? 0), isOn(webhook)))
    .returning()
  if (!claimed) return true
  const answer = await send(ctx, webhook, delivery)
  const done = ctx.now()
  const { taken, status, text } = answer
  // Unless someone sent it again by hand in between.
  const mine = and(isIt, eq(webhookDeliveries.nextAt, lease))
  const said = { status, answer: text }
  if (taken) {
    await writeBatch(ctx.db, [
      ctx.db
        .update(webhookDeliveries)
        .set({ ...said, takenAt: done, nextAt: null })
        .where(mine),
      ctx.db.update(webhooks).set({ answeredAt: done }).where(eq(webhooks.id, webhook.id)),
      forgetOld(ctx, webhook),
    ])
    return true
  }
  ctx.log('webhook_failed', { webhookId: webhook.id, eventId: delivery.eventId, attempts: claimed.attempts, status })
  const nextAt = nextTry(claimed.since, claimed.attempts, done, ctx.random())
  const dead = status === GONE || (nextAt === null && !(await tookSince(ctx, webhook, claimed.since)))
  await writeBatch(ctx.db, [
    ctx.db
      .update(webhookDeliveries)
      .set({ ...said, nextAt })
      .where(mine),
    ...(dead ? switchOffQueries(ctx, webhook, email, status) : []),
    ...(nextAt === null ? [] : [waitTogether(ctx, webhook, nextAt)]),
    forgetOld(ctx, webhook),
  ])
  if (dead) ctx.background(deliverMail(ctx))
  return false
}

async function send(ctx: Context, webhook: WebhookRow, delivery: DeliveryRow): Promise<WebhookAnswer> {
  const { config } = ctx
  // We checked when it was added, but the rules may have changed since.
  const fault = webhookUrlFault(webhook.url, config.local, siteHosts(ctx))
  if (fault) return { taken: false, status: null, text: fault }
  try {
    const { Webhook } = await import('standardwebhooks')
    const at = new Date(ctx.now())
    const signatures = liveSecrets(webhook.secrets, ctx.now()).map(({ sealed }) =>
      new Webhook(openSecret(config.secretKey, webhook.id, sealed)).sign(delivery.eventId, at, delivery.payload),
    )
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Proving-Ground-Webhooks/1',
      'webhook-id': delivery.eventId,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': signatures.join(' '),
    }
    return await ctx.postWebhook(webhook.url, headers, delivery.payload)
  } catch (error) {
    ctx.log('webhook_not_sent', { webhookId: webhook.id, eventId: delivery.eventId }, error)
    return { taken: false, status: null, text: "We couldn't send this. The problem is on our side." }
  }
}

/** Whether the endpoint has accepted anything since then. */
async function tookSince(ctx: Context, { id }: WebhookRow, since: number): Promise<boolean> {
  const [row] = await ctx.db.select({ answeredAt: webhooks.answeredAt }).from(webhooks).where(eq(webhooks.id, id))
  return (row?.answeredAt ?? 0) >= since
}

/** The mark and the email are one write, so there is one email. */
function switchOffQueries(ctx: Context, { id, userId }: WebhookRow, email: string, status: number | null) {
  const because = status === GONE ? ('gone' as const) : ('failing' as const)
  const isOnYet = sql`EXISTS (SELECT 1 FROM webhook_endpoints WHERE id = ${id} AND off_at IS NULL)`
  return [
    ...tellQueries(
      ctx,
      { id: userId, email },
      webhookOffMail(siteOrigin(ctx), id, because),
      sql`${isOnYet} AND EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND closed_at IS NULL)`,
    ),
    ctx.db
      .update(webhooks)
      .set({ offAt: ctx.now(), offBecause: because })
      .where(and(eq(webhooks.id, id), isNull(webhooks.offAt))),
    ctx.db
      .update(webhookDeliveries)
      .set({ nextAt: null })
      .where(and(eq(webhookDeliveries.webhookId, id), isNotNull(webhookDeliveries.nextAt))),
  ]
}

/** Postpones the endpoint's other events, which would fail as well. */
function waitTogether(ctx: Context, { id }: WebhookRow, until: number) {
  return ctx.db.run(sql`UPDATE webhook_deliveries SET next_at = min(${until}, since + ${DELIVERY_MS})
    WHERE endpoint_id = ${id} AND next_at <= ${ctx.now()} AND since + ${DELIVERY_MS} > ${ctx.now()}`)
}

function isOn({ id }: WebhookRow) {
  return sql`EXISTS (SELECT 1 FROM webhook_endpoints WHERE id = ${id} AND off_at IS NULL)`
}

/** Keeps as many as the page shows. */
function forgetOld(ctx: Context, { id }: WebhookRow) {
  return ctx.db.run(sql`DELETE FROM webhook_deliveries WHERE endpoint_id = ${id} AND next_at IS NULL AND created_at <
    (SELECT created_at FROM webhook_deliveries WHERE endpoint_id = ${id} ORDER BY created_at DESC LIMIT 1 OFFSET ${KEPT_DELIVERIES - 1})`)
}
