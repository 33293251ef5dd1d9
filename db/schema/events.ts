import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { EventType } from '../../src/domain/webhook.ts'
import { userId } from './accounts.ts'

/** Where a user's events go. Deleting one deletes its deliveries. */
export const webhooks = sqliteTable(
  'webhook_endpoints',
  {
    id: text().primaryKey(),
    userId: userId(),
    url: text().notNull(),
    /** The events it receives. */
    events: text({ mode: 'json' }).$type<EventType[]>().notNull(),
    /** What signs its messages, newest first. A replaced secret keeps signing until its end. */
    secrets: text({ mode: 'json' }).$type<WebhookSecret[]>().notNull(),
    createdAt: integer('created_at').notNull(),
    /** When it last accepted a message. */
    answeredAt: integer('answered_at'),
    /** When we switched it off, and why. We write nothing for it until its owner turns it on. */
    offAt: integer('off_at'),
    offBecause: text('off_because').$type<'failing' | 'gone'>(),
  },
  (t) => [uniqueIndex('one_webhook_per_url').on(t.userId, t.url)],
)
export type WebhookRow = typeof webhooks.$inferSelect

/** Encrypted (`src/server/events/secrets.ts`). `endsAt` is null for the newest. */
export type WebhookSecret = { sealed: string; endsAt: number | null }

/** One event for one endpoint, written in the batch of the change that it reports. */
export const webhookDeliveries = sqliteTable(
  'webhook_deliveries',
  {
    webhookId: text('endpoint_id')
      .notNull()
      .references(() => webhooks.id),
    /** The same for every endpoint and every try, so that receivers can tell repeats. */
    eventId: text('event_id').notNull(),
    userId: userId(),
    type: text().$type<EventType | 'webhook.test'>().notNull(),
    /** The JSON that we send and sign. */
    payload: text().notNull(),
    createdAt: integer('created_at').notNull(),
    /** When its tries began: when it was written, or last sent again by hand. */
    since: integer().notNull(),
    attempts: integer().notNull().default(0),
    /** When the next try is due, or when a try in progress counts as lost. Null once accepted or given up. */
    nextAt: integer('next_at'),
    triedAt: integer('tried_at'),
    takenAt: integer('taken_at'),
    /** The HTTP status of the last answer; null if there was none. */
    status: integer(),
    /** The beginning of the last answer, or why there was none. */
    answer: text(),
  },
  (t) => [
    primaryKey({ columns: [t.webhookId, t.eventId] }),
    index('webhook_deliveries_by_time').on(t.webhookId, t.createdAt),
    index('webhook_deliveries_due').on(t.nextAt).where(sql`next_at IS NOT NULL`),
    index('webhook_deliveries_due_by_user').on(t.userId, t.nextAt).where(sql`next_at IS NOT NULL`),
  ],
)
export type DeliveryRow = typeof webhookDeliveries.$inferSelect
