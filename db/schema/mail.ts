import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { MailedAct } from '../../src/domain/activity.ts'
import type { NoticeKind } from '../../src/domain/notice.ts'
import { userId } from './accounts.ts'

/** Emails to send, written in the batch of the change that causes them. */
export const outbox = sqliteTable(
  'outbox',
  {
    id: text().primaryKey(),
    recipient: text().notNull(),
    subject: text().notNull(),
    text: text().notNull(),
    html: text().notNull(),
    /** Where replies go, if not to the sender. */
    replyTo: text('reply_to'),
    /** The link that turns off emails of its kind, for its header. Null for emails that people can't turn off. */
    offUrl: text('off_url'),
    /** What it is about, for an email that we write only once: `paid:bill_…`. */
    cause: text().unique(),
    /** What happened to the account, if this email tells its owner: with it, the email is the record that Activity shows. */
    act: text().$type<MailedAct>(),
    createdAt: integer('created_at').notNull(),
    attempts: integer().notNull().default(0),
    /** When the next try is due; null once sent or given up. */
    sendAt: integer('send_at'),
    sentAt: integer('sent_at'),
  },
  (t) => [
    index('outbox_due').on(t.sendAt).where(sql`send_at IS NOT NULL`),
    index('outbox_by_recipient').on(t.recipient),
  ],
)
export type OutboxRow = typeof outbox.$inferSelect

/** What a user sees under the bell, written in the batch of the change that causes it, with its email if it has one. */
export const notices = sqliteTable(
  'notices',
  {
    id: text().primaryKey(),
    userId: userId(),
    kind: text().$type<NoticeKind>().notNull(),
    at: integer().notNull(),
    title: text().notNull(),
    text: text().notNull(),
    /** Where it leads: a path of ours or an invoice at Stripe, and what its link says. */
    link: text(),
    label: text(),
    /** What it is about, for one that we write only once: `budget:…`. */
    cause: text().unique(),
    readAt: integer('read_at'),
  },
  (t) => [
    index('notices_by_user').on(t.userId, t.at),
    index('notices_unread').on(t.userId).where(sql`read_at IS NULL`),
    index('notices_by_time').on(t.at),
  ],
)
export type NoticeRow = typeof notices.$inferSelect
