import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { Act } from '../../src/domain/audit.ts'
import type { MessageKind } from '../../src/domain/wire/contact.ts'

/**
 * When we last emailed the operator about a matter, at most once an hour; for a lasting matter, when we last
 * saw it.
 */
export const alerts = sqliteTable('alerts', {
  matter: text().primaryKey(),
  toldAt: integer('told_at').notNull(),
})

/** How often we called a vendor or the database, or Stripe called us, by outcome: see src/server/runtime/calls.ts. */
export const callCounts = sqliteTable(
  'call_counts',
  {
    system: text().notNull(),
    call: text().notNull(),
    outcome: text().$type<'ok' | 'refused' | 'failed'>().notNull(),
    count: integer().notNull(),
    lastAt: integer('last_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.system, t.call, t.outcome] })],
)

/** Times when nobody could start a server, for the public status page. */
export const incidents = sqliteTable(
  'incidents',
  {
    id: text().primaryKey(),
    kind: text().$type<'full' | 'failing' | 'down'>().notNull(),
    startedAt: integer('started_at').notNull(),
    /** Null while it lasts. */
    endedAt: integer('ended_at'),
  },
  (t) => [
    uniqueIndex('one_open_incident_per_kind').on(t.kind).where(sql`ended_at IS NULL`),
    index('incidents_by_end').on(t.endedAt),
  ],
)
export type IncidentRow = typeof incidents.$inferSelect

/** What operators did, and why. Triggers refuse to change or delete a row. */
export const auditLog = sqliteTable(
  'audit_log',
  {
    id: text().primaryKey(),
    at: integer().notNull(),
    /** An admin's user id, or `script`. */
    actor: text().notNull(),
    act: text().$type<Act>().notNull(),
    /** The ID of what they acted on. */
    subject: text().notNull(),
    /** The user it concerns. */
    userId: text('user_id'),
    reason: text().notNull(),
    /** What changed, as JSON. */
    detail: text(),
  },
  (t) => [index('audit_log_by_time').on(t.at), index('audit_log_by_user').on(t.userId, t.at)],
)
export type AuditRow = typeof auditLog.$inferSelect

/** One row: since when we have checked whether people can start servers, and when we last did. */
export const statusChecks = sqliteTable('status_checks', {
  id: text().$type<'starts'>().primaryKey(),
  firstAt: integer('first_at').notNull(),
  lastAt: integer('last_at').notNull(),
})

/** What people write to us: to sales, for help, or as feedback. */
export const contactMessages = sqliteTable('contact_messages', {
  id: text().primaryKey(),
  kind: text().$type<MessageKind>().notNull().default('sales'),
  name: text().notNull(),
  email: text().notNull(),
  /** To sales: how they heard about us. For help: the topic. Feedback has none. */
  source: text().notNull(),
  message: text().notNull(),
  createdAt: integer('created_at').notNull(),
})
