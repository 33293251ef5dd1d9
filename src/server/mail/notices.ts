import type { ResultSet } from '@libsql/client/http'
import { type SQL, sql } from 'drizzle-orm'
import type { Query } from '../../../db/client.ts'
import { isMailKind, type MailKind } from '../../domain/notice.ts'
import { newId } from '../crypto/id.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { composeMail, type Message } from './letter.ts'
import { offUrl } from './off-link.ts'
import { mailQuery } from './outbox.ts'

type Written = Pick<Context, 'db' | 'now' | 'config'>
type To = { id: string; email: string | SQL }

/**
 * Tells a person something, in the batch of the change that causes it: under the bell, and by email unless they
 * switched off this kind.
 * @param to a closed account hears nothing
 * @param when an SQL condition: nothing is written unless it is true at that moment
 * @param cause if given, both are written only if no other has the same cause
 * @returns the email's query, then the notice's
 */
export function tellQueries(
  ctx: Written,
  to: To,
  message: Message,
  when: SQL = sql`1`,
  cause: string | null = null,
): Query[] {
  return [emailQuery(ctx, to, message, when, cause), noticeQuery(ctx, to.id, message, { when, cause })]
}

/** Only the email, before its notice. */
export function emailQuery(
  ctx: Written,
  to: To,
  { kind, subject, parts }: Message,
  when: SQL,
  cause: string | null,
): Query {
  const off = isMailKind(kind) ? offUrl(ctx, to.id, kind) : null
  const isWanted = isMailKind(kind) ? sql`NOT ${isMuted(to.id, kind)}` : sql`1`
  // People who switch these emails on later get none for old notices.
  const isNew = sql`NOT EXISTS (SELECT 1 FROM notices WHERE cause = ${cause})`
  return mailQuery(ctx, to.email, composeMail(subject, parts, off), sql`${when} AND ${isWanted} AND ${isNew}`, cause)
}

/**
 * Only the notice.
 * @param read it doesn't count as news, because they did it themselves
 */
export function noticeQuery(
  ctx: Pick<Context, 'db' | 'now'> & Partial<Pick<Context, 'config'>>,
  userId: string,
  { kind, subject, parts, page }: Message,
  { when = sql`1`, cause = null, read = false }: { when?: SQL; cause?: string | null; read?: boolean } = {},
): Query {
  const now = ctx.now()
  const sentence = parts.find((part) => typeof part === 'string') ?? ''
  const to = page ?? parts.find((part) => typeof part === 'object' && 'link' in part) ?? null
  const origin = ctx.config ? siteOrigin({ config: ctx.config }) : ''
  const link = to?.link.startsWith(`${origin}/`) ? to.link.slice(origin.length) : to?.link
  return ctx.db.run(sql`
    INSERT INTO notices (id, user_id, kind, at, title, text, link, label, cause, read_at)
    SELECT ${newId('ntc')}, id, ${kind}, ${now}, ${subject}, ${sentence}, ${link ?? null}, ${to?.label ?? null}, ${cause},
      ${read ? now : null}
    FROM users WHERE id = ${userId} AND closed_at IS NULL AND (${when}) ON CONFLICT (cause) DO NOTHING`)
}

/** Shows what a batch wrote on the bells of the person's open pages. @param written the notice's result */
export function tellSoon(
  ctx: Pick<Context, 'background' | 'channel'>,
  userId: string,
  written: ResultSet | undefined,
): void {
  if (written?.rowsAffected) ctx.background(ctx.channel(userId).tellAccount())
}

function isMuted(userId: string, kind: MailKind): SQL {
  return sql`EXISTS (SELECT 1 FROM users, json_each(users.muted_mails) WHERE users.id = ${userId} AND json_each.value = ${kind})`
}
