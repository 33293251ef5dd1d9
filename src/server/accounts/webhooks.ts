import { and, asc, desc, eq, getTableColumns, sql } from 'drizzle-orm'
import type { InferInput } from 'valibot'
import { writeBatch } from '../../../db/client.ts'
import { webhookDeliveries, webhooks } from '../../../db/schema/events.ts'
import { AppError } from '../../domain/error.ts'
import { toIso } from '../../domain/instant.ts'
import { currentPasswordForm } from '../../domain/user.ts'
import type { WebhookView } from '../../domain/views.ts'
import {
  KEPT_DELIVERIES,
  MAX_SECRETS,
  MAX_WEBHOOKS,
  normalUrl,
  SECRET_OVERLAP_MS,
  TOO_MANY_SECRETS,
  TOO_MANY_WEBHOOKS,
  URL_TAKEN,
  WEBHOOK_OFF,
  webhookForm,
  webhookUrlFault,
} from '../../domain/webhook.ts'
import type { User } from '../../domain/wire/accounts.ts'
import type { Webhook } from '../../domain/wire/events.ts'
import { newId } from '../crypto/id.ts'
import { deleteWebhooksQueries, messageOf } from '../events/outbox.ts'
import { liveSecrets, newSecret, sealSecret } from '../events/secrets.ts'
import { toDelivery, toWebhook } from '../events/wire.ts'
import { limitPerson } from '../limits/limits.ts'
import { deliverMail, mailQuery } from '../mail/outbox.ts'
import { webhookMail } from '../mail/webhook-letters.ts'
import { type Context, siteHosts, siteOrigin } from '../runtime/context.ts'
import { requireValid } from '../runtime/form-rules.ts'
import { type Proof, requireCurrentPassword } from './credentials/current-password.ts'

/**
 * Adds an endpoint, emails its owner, and returns its secret. From then on, we only use it to sign.
 * @throws invalid, conflict (the URL is taken, or there are too many), too_many
 */
export async function createWebhook(
  ctx: Context,
  user: User,
  input: InferInput<typeof webhookForm> & Proof,
): Promise<Webhook & { secret: string }> {
  const form = requireValid(webhookForm, input)
  const fault = webhookUrlFault(form.url, ctx.config.local, siteHosts(ctx))
  if (fault) throw new AppError('invalid', fault, { field: 'url' })
  const url = normalUrl(form.url)
  await limitPerson(ctx, 'new_webhook', user.id)
  const proven = await requireCurrentPassword(ctx, user.id, input)
  const [id, secret, now] = [newId('whk'), newSecret(), ctx.now()]
  const secrets = [{ sealed: sealSecret(ctx.config.secretKey, id, secret), endsAt: null }]
  const theirs = sql`FROM webhook_endpoints WHERE user_id = ${user.id}`
  const isMade = sql`EXISTS (SELECT 1 FROM webhook_endpoints WHERE id = ${id})`
  const [made] = await writeBatch(ctx.db, [
    // The password may have changed during our check.
    ctx.db.run(sql`
      INSERT INTO webhook_endpoints (id, user_id, url, events, secrets, created_at)
      SELECT ${id}, id, ${url}, ${JSON.stringify(form.events)}, ${JSON.stringify(secrets)}, ${now} FROM users
      WHERE id = ${user.id} AND ${proven.holds}
      AND (SELECT count(*) ${theirs}) < ${MAX_WEBHOOKS} AND NOT EXISTS (SELECT 1 ${theirs} AND url = ${url})`),
    mailQuery(ctx, user.email, webhookMail(siteOrigin(ctx), id, 'webhook_added'), isMade),
    ...proven.spendQueries(isMade),
  ])
  if (!made?.rowsAffected) throw (await whyNotMade(ctx, user.id, url)) ?? proven.lapsed()
  ctx.background(deliverMail(ctx))
  const row = { id, url, events: form.events, createdAt: now, answeredAt: null, offAt: null, offBecause: null }
  return { ...toWebhook({ ...row, waiting: 0 }), secret }
}

async function whyNotMade(ctx: Context, userId: string, url: string): Promise<AppError | null> {
  const known = await listWebhooks(ctx, userId)
  if (known.some((webhook) => webhook.url === url)) return new AppError('conflict', URL_TAKEN, { field: 'url' })
  return known.length >= MAX_WEBHOOKS ? new AppError('conflict', TOO_MANY_WEBHOOKS) : null
}

const LISTED = {
  id: webhooks.id,
  url: webhooks.url,
  events: webhooks.events,
  createdAt: webhooks.createdAt,
  answeredAt: webhooks.answeredAt,
  offAt: webhooks.offAt,
  offBecause: webhooks.offBecause,
  secrets: webhooks.secrets,
  /** How many events wait for another try. */
  waiting: sql<number>`(SELECT count(*) FROM webhook_deliveries WHERE endpoint_id = ${webhooks.id}
    AND next_at IS NOT NULL AND answer IS NOT NULL)`,
}

/** A page of whole payloads, some 60 KB each, would fill an isolate's memory within a few requests. */
const SHOWN_CHARACTERS = 4_000
const { payload, ...columns } = getTableColumns(webhookDeliveries)
const SHOWN = {
  ...columns,
  payload: sql<string>`CASE WHEN length(${payload}) > ${SHOWN_CHARACTERS}
    THEN substr(${payload}, 1, ${SHOWN_CHARACTERS}) || '…' ELSE ${payload} END`,
}

/** Oldest first. */
export async function listWebhooks(ctx: Context, userId: string): Promise<Webhook[]> {
  const rows = await ctx.db
    .select(LISTED)
    .from(webhooks)
    .where(eq(webhooks.userId, userId))
    .orderBy(asc(webhooks.createdAt))
  return rows.map(toWebhook)
}

/** @throws not_found, also for another user's */
export async function getWebhook(ctx: Context, userId: string, id: string): Promise<WebhookView> {
  const [[row], told] = await ctx.db.batch([
    ctx.db.select(LISTED).from(webhooks).where(isTheirs(userId, id)),
    ctx.db
      .select(SHOWN)
      .from(webhookDeliveries)
      .where(and(eq(webhookDeliveries.webhookId, id), eq(webhookDeliveries.userId, userId)))
      .orderBy(desc(webhookDeliveries.createdAt))
      .limit(KEPT_DELIVERIES),
  ])
  if (!row) throw notFound()
  const ends = liveSecrets(row.secrets, ctx.now()).map(({ endsAt }) => endsAt)
  return {
    webhook: toWebhook(row),
    deliveries: told.map(toDelivery),
    oldSecretsEnd: ends.filter((at) => at !== null).map((at) => toIso(at)),
  }
}

/**
 * Makes a new secret, and emails its owner. The replaced ones keep signing for a day, to give the receiver time to switch.
 * @throws invalid, not_found, conflict, too_many
 */
export async function rotateSecret(
  ctx: Context,
  { id: userId, email }: User,
  id: string,
  input: InferInput<typeof currentPasswordForm> & Proof,
): Promise<string> {
  requireValid(currentPasswordForm, input)
  await limitPerson(ctx, 'new_webhook_secret', userId)
  const proven = await requireCurrentPassword(ctx, userId, input)
  const [row] = await ctx.db.select({ secrets: webhooks.secrets }).from(webhooks).where(isTheirs(userId, id))
  if (!row) throw notFound()
  const now = ctx.now()
  const secret = newSecret()
  const live = liveSecrets(row.secrets, now)
  if (live.length >= MAX_SECRETS) throw new AppError('conflict', TOO_MANY_SECRETS)
  const secrets = [
    { sealed: sealSecret(ctx.config.secretKey, id, secret), endsAt: null },
    ...live.map(({ sealed, endsAt }) => ({ sealed, endsAt: endsAt ?? now + SECRET_OVERLAP_MS })),
  ]
  const isOurs = sql`EXISTS (SELECT 1 FROM ${webhooks} WHERE ${and(isTheirs(userId, id), eq(webhooks.secrets, secrets))})`
  const [rotated] = await writeBatch(ctx.db, [
    ctx.db
      .update(webhooks)
      .set({ secrets })
      .where(and(isTheirs(userId, id), eq(webhooks.secrets, row.secrets), proven.holds)),
    mailQuery(ctx, email, webhookMail(siteOrigin(ctx), id, 'webhook_secret_replaced'), isOurs),
    ...proven.spendQueries(isOurs),
  ])
  // Two calls at once: the other answer shows the secret that counts.
  if (!rotated?.rowsAffected) throw new AppError('conflict', 'The secret has just been replaced. Please try again.')
  ctx.background(deliverMail(ctx))
  return secret
}

/** Emails its owner. @throws not_found */
export async function deleteWebhook(ctx: Context, user: User, id: string): Promise<void> {
  const which = sql`id = ${id} AND user_id = ${user.id}`
  const isThere = sql`EXISTS (SELECT 1 FROM webhook_endpoints WHERE ${which})`
  const [told] = await writeBatch(ctx.db, [
    mailQuery(ctx, user.email, webhookMail(siteOrigin(ctx), id, 'webhook_removed'), isThere),
    ...deleteWebhooksQueries(ctx, which),
  ])
  if (!told?.rowsAffected) throw notFound()
  ctx.background(deliverMail(ctx))
}

/** @throws not_found */
export async function turnOnWebhook(ctx: Context, userId: string, id: string): Promise<void> {
  const [row] = await ctx.db
    .update(webhooks)
    .set({ offAt: null, offBecause: null })
    .where(isTheirs(userId, id))
    .returning({ id: webhooks.id })
  if (!row) throw notFound()
}

/** @throws not_found, conflict (it is off), too_many */
export async function sendTestEvent(ctx: Context, userId: string, id: string): Promise<void> {
  await limitPerson(ctx, 'send_event', userId)
  const now = ctx.now()
  const payload = messageOf('webhook.test', now, {})
  const { rowsAffected } = await ctx.db.run(sql`
    INSERT INTO webhook_deliveries (endpoint_id, event_id, user_id, type, payload, created_at, since, next_at)
    SELECT id, ${newId('evt')}, user_id, 'webhook.test', ${payload}, ${now}, ${now}, ${now}
    FROM webhook_endpoints WHERE id = ${id} AND user_id = ${userId} AND off_at IS NULL`)
  if (!rowsAffected) throw await whyNotSent(ctx, userId, id)
  ctx.background(ctx.eventSender(userId).wake(userId))
}

/** Sends the same event with the same ID, again for up to a day. @throws not_found, conflict (it is off), too_many */
export async function sendAgain(ctx: Context, userId: string, id: string, eventId: string): Promise<void> {
  await limitPerson(ctx, 'send_event', userId)
  const now = ctx.now()
  const { rowsAffected } = await ctx.db.run(sql`
    UPDATE webhook_deliveries SET since = ${now}, attempts = 0, next_at = ${now},
      taken_at = NULL, status = NULL, answer = NULL
    WHERE endpoint_id = (SELECT id FROM webhook_endpoints WHERE id = ${id} AND user_id = ${userId} AND off_at IS NULL)
    AND event_id = ${eventId}`)
  if (!rowsAffected) throw await whyNotSent(ctx, userId, id)
  ctx.background(ctx.eventSender(userId).wake(userId))
}

async function whyNotSent(ctx: Context, userId: string, id: string): Promise<AppError> {
  const [row] = await ctx.db.select({ offAt: webhooks.offAt }).from(webhooks).where(isTheirs(userId, id))
  return row && row.offAt !== null ? new AppError('conflict', WEBHOOK_OFF) : notFound()
}

function isTheirs(userId: string, id: string) {
  return and(eq(webhooks.id, id), eq(webhooks.userId, userId))
}

function notFound(): AppError {
  return new AppError('not_found', 'Webhook or event not found.')
}
