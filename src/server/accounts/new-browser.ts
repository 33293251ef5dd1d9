import { sql } from 'drizzle-orm'
import type { Query } from '../../../db/client.ts'
import { DAY_MS } from '../../domain/instant.ts'
import { NEW_BROWSER_MAILS, newBrowserMail } from '../mail/new-browser-letter.ts'
import { fewToday, mailQuery } from '../mail/outbox.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'

/** Emails the owner about a sign-in, except the first one of a new account, right after signing up. */
export function newBrowserQuery(
  ctx: Context,
  signInId: string,
  device: { userAgent: string | null; address: string | null },
): Query {
  const at = ctx.now()
  const yesterday = at - DAY_MS
  const owner = sql`(SELECT user_id FROM sign_ins WHERE id = ${signInId})`
  return mailQuery(
    ctx,
    sql`(SELECT email FROM users WHERE id = ${owner})`,
    newBrowserMail(siteOrigin(ctx), { ...device, at }),
    sql`EXISTS (SELECT 1 FROM users WHERE id = ${owner}
      AND (confirmed_at < ${yesterday} OR EXISTS (SELECT 1 FROM sign_ins WHERE user_id = users.id AND id <> ${signInId}))
      AND ${fewToday(ctx, sql`users.email`, 'new_browser', NEW_BROWSER_MAILS)})`,
  )
}
