import { desc, eq, type SQL, sql } from 'drizzle-orm'
import { users } from '../../../db/schema/accounts.ts'
import { type NoticeRow, notices } from '../../../db/schema/mail.ts'
import { AppError } from '../../domain/error.ts'
import { toIso } from '../../domain/instant.ts'
import { LISTED_NOTICES, MAIL_KINDS, type MailKind } from '../../domain/notice.ts'
import type { Notice } from '../../domain/wire/events.ts'
import type { Context } from '../runtime/context.ts'

/** A person's latest notices, newest first. */
export function noticesQuery(ctx: Pick<Context, 'db'>, userId: string | SQL) {
  return ctx.db
    .select()
    .from(notices)
    .where(eq(notices.userId, userId))
    .orderBy(desc(notices.at), desc(notices.id))
    .limit(LISTED_NOTICES)
}

export function toNotice({ id, kind, at, title, text, link, label, readAt }: NoticeRow): Notice {
  return { id, kind, at: toIso(at), title, text, link, label, read: readAt !== null }
}

/**
 * Marks what they have seen as read, and tells their other pages.
 * @param until the newest one that they saw, as ISO 8601: one that came since stays unread. Null: all of them
 */
export async function markRead(ctx: Context, userId: string, until: string | null): Promise<void> {
  const now = ctx.now()
  const seen = until === null ? now : Date.parse(until)
  if (Number.isNaN(seen)) throw new AppError('invalid', 'Give the time as ISO 8601, such as 2026-11-24T18:00:00Z.')
  const { rowsAffected } = await ctx.db.run(
    sql`UPDATE notices SET read_at = ${now} WHERE user_id = ${userId} AND read_at IS NULL AND at <= ${seen}`,
  )
  if (rowsAffected) ctx.background(ctx.channel(userId).tellAccount())
}

export function mutedMailsQuery(ctx: Pick<Context, 'db'>, userId: string | SQL) {
  return ctx.db.select({ muted: users.mutedMails }).from(users).where(sql`${users.id} = ${userId}`)
}

/** Which kinds of email they want, by kind. */
export function toMailChoice([row]: { muted: MailKind[] }[]): Record<MailKind, boolean> {
  const muted = new Set(row?.muted ?? [])
  return Object.fromEntries(mailKinds().map((kind) => [kind, !muted.has(kind)])) as Record<MailKind, boolean>
}

/** @param wanted null: as it is */
export async function chooseMails(
  ctx: Context,
  userId: string,
  wanted: Record<MailKind, boolean | null>,
): Promise<Record<MailKind, boolean>> {
  const chosen = mailKinds().filter((kind) => wanted[kind] !== null)
  const muted = chosen.filter((kind) => !wanted[kind])
  const rows = await ctx.db
    .update(users)
    .set({
      mutedMails: sql`(SELECT json_group_array(value) FROM (
        SELECT value FROM json_each(users.muted_mails) WHERE value NOT IN (SELECT value FROM json_each(${JSON.stringify(chosen)}))
        UNION ALL SELECT value FROM json_each(${JSON.stringify(muted)})))`,
    })
    .where(eq(users.id, userId))
    .returning({ muted: users.mutedMails })
  return toMailChoice(rows)
}

const mailKinds = () => Object.keys(MAIL_KINDS) as MailKind[]
