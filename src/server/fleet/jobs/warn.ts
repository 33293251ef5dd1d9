import { sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import type { RunRow } from '../../../../db/schema.ts'
import { MINUTE_MS, toIso } from '../../../domain/instant.ts'
import { type Context, siteOrigin } from '../../context.ts'
import { eventQuery, sendSoon } from '../../events/outbox.ts'
import { extendPath } from '../../extend-key.ts'
import { serverEndingMail } from '../../mail/ending-letters.ts'
import { deliverMail, mailQuery } from '../../mail/outbox.ts'
import { trialEndingMail } from '../../mail/trial-letters.ts'
import { runEventQuery } from '../../run-events.ts'
import { serverEvent } from '../server-events.ts'
import { END, endOf, IS_UNWARNED, isOpenAccount } from './ends.ts'

/**
 * Unless a plan, a stop, or a move of the end came in between. The mark, the email, and the events are one write, so
 * there is one of each.
 * @returns whether this call warned
 */
export async function warnOfEnd(ctx: Context, run: RunRow, email: string): Promise<boolean> {
  const now = ctx.now()
  const { end, isOwn } = endOf(run)
  const minutes = Math.ceil((end - now) / MINUTE_MS)
  const isDue = sql`id = ${run.id} AND ${IS_UNWARNED} AND stop_requested_at IS NULL AND ${END} = ${end}`
  const when = sql`EXISTS (SELECT 1 FROM server_sessions WHERE ${isDue}) AND ${isOpenAccount(run)}`
  const origin = siteOrigin(ctx)
  const mail = isOwn
    ? serverEndingMail(`${origin}${extendPath(ctx.config.secretKey, run.id)}`, { end, minutes })
    : trialEndingMail(origin, minutes)
  const about = `${run.id}_${end}`
  const data = { ends_at: toIso(end) }
  const [event, earlier] = [
    serverEvent(ctx, 'server.ending', run, data),
    serverEvent(ctx, 'server.ending_soon', run, data),
  ]
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
    // A plan's end was mailed an hour before, and can't be extended.
    ...(isOwn && run.planEnds ? [] : [mailQuery(ctx, email, mail, when, isOwn ? `ending:${about}` : null)]),
    runEventQuery(ctx, run.id, { what: 'warned', detail: toIso(end), by: 'us' }, isDue),
    ctx.db.run(sql`UPDATE server_sessions SET trial_warned_at = ${now}, warned_end = ${end} WHERE ${isDue}`),
  ])
  for (const told of results.slice(0, 2)) sendSoon(ctx, run.userId, told)
  ctx.background(deliverMail(ctx))
  return results.at(-1)?.rowsAffected === 1
}
