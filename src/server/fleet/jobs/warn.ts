import { sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import type { RunRow } from '../../../../db/schema/fleet.ts'
import { addedText } from '../../../domain/ending.ts'
import { HOUR_MS, MINUTE_MS, toIso } from '../../../domain/instant.ts'
import { runLinkPath } from '../../crypto/run-links.ts'
import { eventQuery, sendSoon } from '../../events/outbox.ts'
import { serverEndingMail } from '../../mail/ending-letters.ts'
import { noticeQuery, tellQueries, tellSoon } from '../../mail/notices.ts'
import { deliverMail } from '../../mail/outbox.ts'
import { trialEndingMail } from '../../mail/trial-letters.ts'
import { type Context, serversKeepFiles, siteOrigin } from '../../runtime/context.ts'
import { runEventQuery } from '../../runtime/run-events.ts'
import { serverEvent } from '../server-events.ts'
import { END, endOf, IS_UNWARNED, isOpenAccount } from './ends.ts'

/**
 * Warns, unless a plan, a stop, or a move of the end came in between. The mark, the email, and the events are one
 * write, so there is one of each.
 * @returns whether this call warned
 */
export async function warnOfEnd(ctx: Context, run: RunRow, email: string): Promise<boolean> {
  const now = ctx.now()
  const { end, isOwn } = endOf(run)
  const minutes = Math.ceil((end - now) / MINUTE_MS)
  const isDue = sql`id = ${run.id} AND ${IS_UNWARNED} AND stop_requested_at IS NULL AND ${END} = ${end}`
  const when = sql`EXISTS (SELECT 1 FROM server_sessions WHERE ${isDue}) AND ${isOpenAccount(run)}`
  const adds = addedText(Math.min(HOUR_MS, (run.mustStopAt ?? Infinity) - end))
  const origin = siteOrigin(ctx)
  const filesStay = serversKeepFiles(ctx)
  // The mail's button needs no sign-in; people who see the notice have one.
  const page = { link: `${origin}/servers/${run.id}`, label: 'See the server' }
  const message = isOwn
    ? {
        ...serverEndingMail(`${origin}${runLinkPath(ctx.config.secretKey, 'extend', run.id)}`, {
          end,
          minutes,
          adds,
          filesStay,
          why: run.idleEnds ? 'idle' : end === run.defaultEndsAt ? 'plan' : 'you',
        }),
        page,
      }
    : trialEndingMail(origin, minutes, filesStay)
  const cause = isOwn ? `ending:${run.id}_${end}` : null
  const about = `${run.id}_${end}`
  const data = { ends_at: toIso(end) }
  const [event, earlier] = [
    serverEvent(ctx, 'server.ending', run, data),
    serverEvent(ctx, 'server.ending_soon', run, data),
  ]
  // A plan's end was mailed an hour before, and can't be extended.
  const tells =
    isOwn && run.planEnds
      ? [noticeQuery(ctx, run.userId, message, { when, cause })]
      : tellQueries(ctx, { id: run.userId, email }, message, when, cause)
  const results = await writeBatch(ctx.db, [
    eventQuery(ctx, run.userId, { ...event, about }, when),
    // Its name until 2026. An endpoint that knows the new one gets only that.
    eventQuery(
      ctx,
      run.userId,
      { ...earlier, about },
      sql`${when}
      AND NOT EXISTS (SELECT 1 FROM json_each(events) WHERE value = 'server.ending')`,
    ),
    ...tells,
    runEventQuery(ctx, run.id, { what: 'warned', detail: toIso(end), by: 'us' }, isDue),
    ctx.db.run(sql`UPDATE server_sessions SET trial_warned_at = ${now}, warned_end = ${end} WHERE ${isDue}`),
  ])
  for (const told of results.slice(0, 2)) sendSoon(ctx, run.userId, told)
  tellSoon(ctx, run.userId, results[1 + tells.length])
  ctx.background(deliverMail(ctx))
  return results.at(-1)?.rowsAffected === 1
}
