import type { ResultSet } from '@libsql/client/http'
import { type SQL, sql } from 'drizzle-orm'
import type { Query } from '../../../db/client.ts'
import { toIso } from '../../domain/instant.ts'
import type { EventType } from '../../domain/webhook.ts'
import type { Context } from '../runtime/context.ts'

/**
 * Something that a user's programs may want to know.
 * @param about the run or bill: together with the type, it makes the event's ID, so that we report it once
 */
export type OutgoingEvent = { type: EventType; about: string; data: Record<string, unknown> }

/** The JSON that a receiver gets, as Standard Webhooks recommends it. */
export function messageOf(type: string, at: number, data: Record<string, unknown>): string {
  return JSON.stringify({ type, timestamp: toIso(at), data })
}

/**
 * Writes an event for each endpoint that wants it, in the batch of the change that it reports.
 * @param when an SQL condition: it is only written if it is true at that moment
 */
export function eventQuery(ctx: Pick<Context, 'db' | 'now'>, userId: string, event: OutgoingEvent, when: SQL) {
  const { type, about, data } = event
  const now = ctx.now()
  return ctx.db.run(sql`
    INSERT INTO webhook_deliveries (endpoint_id, event_id, user_id, type, payload, created_at, since, next_at)
    SELECT id, ${`evt_${type.replace('.', '_')}_${about}`}, user_id, ${type}, ${messageOf(type, now, data)}, ${now}, ${now}, ${now}
    FROM webhook_endpoints WHERE user_id = ${userId} AND off_at IS NULL
    AND EXISTS (SELECT 1 FROM json_each(events) WHERE value = ${type}) AND ${when}
    ON CONFLICT DO NOTHING`)
}

/** Sends what a batch wrote, without waiting for the next sweep. */
export function sendSoon(
  ctx: Pick<Context, 'background' | 'eventSender'>,
  userId: string,
  written: ResultSet | undefined,
): void {
  if (written?.rowsAffected) ctx.background(ctx.eventSender(userId).wake(userId))
}

/** Endpoints and their deliveries. @param which an SQL condition on endpoints */
export function deleteWebhooksQueries(ctx: Pick<Context, 'db'>, which: SQL): Query[] {
  return [
    ctx.db.run(
      sql`DELETE FROM webhook_deliveries WHERE endpoint_id IN (SELECT id FROM webhook_endpoints WHERE ${which})`,
    ),
    ctx.db.run(sql`DELETE FROM webhook_endpoints WHERE ${which}`),
  ]
}
