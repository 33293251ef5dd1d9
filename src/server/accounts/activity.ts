import { type SQL, sql } from 'drizzle-orm'
import { type ActivityRow, activityWords, refusedSince } from '../../domain/activity.ts'
import { DAY_MS, toIso } from '../../domain/instant.ts'
import { TRACE_DAYS } from '../../domain/retention.ts'
import type { ActivityLine } from '../../domain/views.ts'
import type { User } from '../../domain/wire/accounts.ts'
import type { Context } from '../runtime/context.ts'
import type { CurrentSignIn } from './live-sign-ins.ts'

const AT_ONCE = 50
/** No account has as many in 90 days, unless a program signs in all day. */
export const MOST_IN_EXPORT = 5_000

type Page = { lines: ActivityLine[]; older: string | null }
type Read = ActivityRow & { id: string; at: number; userAgent: string | null; address: string | null }

/**
 * What happened to an account in the last 90 days, newest first. Nothing writes a log for it: each act's own row, or the
 * email that tells its owner, is its record.
 * @param before `older` of the previous page
 */
export async function listActivity(
  ctx: Pick<Context, 'db' | 'now'>,
  user: Pick<User, 'id' | 'email'>,
  before: string | null,
  limit = AT_ONCE,
): Promise<Page> {
  return toPage(await activityQuery(ctx, user, before, limit), limit)
}

/** `refused` says how many sign-ins we refused since this person was last here; null on later pages, and if there were none. */
export async function getActivity(
  ctx: Pick<Context, 'db' | 'now'>,
  current: CurrentSignIn,
  before: string | null,
): Promise<Page & { refused: string | null }> {
  const [rows, [counted]] = await ctx.db.batch([
    activityQuery(ctx, current.user, before, AT_ONCE),
    refusedQuery(ctx, current),
  ])
  const refused = refusedSince({ count: Number(counted?.count), withCode: Number(counted?.withCode) })
  return { ...toPage(rows, AT_ONCE), refused: before ? null : refused }
}

function toPage(rows: Read[], limit: number): Page {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    lines: shown.flatMap(toLine),
    older: last && rows.length > limit ? `${last.at}_${last.id}` : null,
  }
}

function activityQuery(
  ctx: Pick<Context, 'db' | 'now'>,
  { id, email }: Pick<User, 'id' | 'email'>,
  before: string | null,
  limit: number,
) {
  const since = ctx.now() - TRACE_DAYS * DAY_MS
  const [, time = '', lastId = ''] = /^(\d{1,15})_(.+)$/.exec(before ?? '') ?? []
  return ctx.db.all<Read>(sql`
    SELECT * FROM (${actsOf(id, email)})
    WHERE at >= ${since} ${time ? sql`AND (at < ${Number(time)} OR (at = ${Number(time)} AND id < ${lastId}))` : sql``}
    ORDER BY at DESC, id DESC LIMIT ${limit + 1}`)
}

/** Each part finds its rows by an index on their owner. IDs are unique across all parts. */
function actsOf(id: string, email: string): SQL {
  return sql`
    SELECT created_at AS at, id, 'sign_in' AS kind, NULL AS name, NULL AS more, new_browser AS count,
      user_agent AS userAgent, address FROM sign_ins WHERE user_id = ${id}
    UNION ALL SELECT last_at, wrong || hour, 'refused', wrong, NULL, count, user_agent, address
      FROM refused_sign_ins WHERE user_id = ${id}
    UNION ALL SELECT created_at, 'made ' || id, 'token_made', name, scope, 0, NULL, NULL
      FROM api_tokens WHERE user_id = ${id}
    UNION ALL SELECT revoked_at, 'ended ' || id, 'token_ended', name, NULL, 0, NULL, NULL
      FROM api_tokens WHERE user_id = ${id}
    UNION ALL SELECT created_at, 'began ' || id, 'plan_began', plan_type, sub_type, 0, NULL, NULL
      FROM subscriptions WHERE user_id = ${id}
    UNION ALL SELECT upgraded_at, 'changed ' || id, 'plan_changed', plan_type, upgraded_from, 0, NULL, NULL
      FROM subscriptions WHERE user_id = ${id}
    UNION ALL SELECT ended_at, 'ended ' || id, 'plan_ended', plan_type, sub_type, 0, NULL, NULL
      FROM subscriptions WHERE user_id = ${id}
    UNION ALL SELECT at, id, 'operator', act, NULL, 0, NULL, NULL FROM audit_log WHERE user_id = ${id}
    UNION ALL SELECT created_at, id, 'mailed', act, NULL, 0, NULL, NULL
      FROM outbox WHERE recipient = ${email} AND act IS NOT NULL`
}

function toLine({ id, at, userAgent, address, ...row }: Read): ActivityLine[] {
  const words = activityWords(row)
  return words ? [{ id, at: toIso(at), ...words, user_agent: userAgent, address }] : []
}

/** Visits are sign-ins: the last one ended when this person was last seen before the current one. */
function refusedQuery(ctx: Pick<Context, 'db'>, { id, user }: CurrentSignIn) {
  return ctx.db.all<{ count: number; withCode: number }>(sql`
    SELECT coalesce(sum(count), 0) AS count, coalesce(sum(CASE wrong WHEN 'password' THEN 0 ELSE count END), 0) AS withCode
    FROM refused_sign_ins WHERE user_id = ${user.id} AND last_at > coalesce(
      (SELECT max(last_seen_at) FROM sign_ins WHERE user_id = ${user.id} AND id <> ${id}
        AND created_at < (SELECT created_at FROM sign_ins WHERE id = ${id})), 0)`)
}
