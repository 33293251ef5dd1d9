import { and, eq, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { type RunRow, runs, users } from '../../../../db/schema.ts'
import { MINUTE_MS, toIso } from '../../../domain/instant.ts'
import { NOT_CHARGED, TIME_UP_EARLY } from '../../../domain/money/receipt.ts'
import { type Context, siteOrigin } from '../../context.ts'
import { eventQuery, sendSoon } from '../../events/outbox.ts'
import { deliverMail, mailQuery } from '../../mail/outbox.ts'
import { trialEndingMail, trialOverMail } from '../../mail/trial-letters.ts'
import { requestStop } from '../runs.ts'
import { serverEvent } from '../server-events.ts'

/** How long before a run's end we warn. A run that starts with less time left gets no warning. */
const WARN_MS = 5 * MINUTE_MS

const hasEnd = or(isNotNull(runs.mustStopAt), isNotNull(runs.endsAt))

/**
 * Ends the user's server at the time they set, or when their trial is over, and warns before that.
 * @returns when to look again; null if nothing has an end
 */
export async function watchEnd(ctx: Context, userId: string): Promise<number | null> {
  const [row] = await ctx.db
    .select({ run: runs, email: users.email })
    .from(runs)
    .innerJoin(users, eq(users.id, runs.userId))
    .where(and(eq(runs.userId, userId), hasEnd, isNull(runs.stopRequestedAt), isNull(runs.endedAt)))
  if (!row) return null
  const { run, email } = row
  const [mustStopAt, endsAt] = [run.mustStopAt ?? Infinity, run.endsAt ?? Infinity]
  const now = ctx.now()
  if (now >= endsAt && endsAt < mustStopAt) {
    await requestStop(ctx, run, endsAt, { cancelled: `${TIME_UP_EARLY} ${NOT_CHARGED}` })
    return now
  }
  if (now >= mustStopAt) {
    const mail = trialOverMail(siteOrigin(ctx))
    await requestStop(ctx, run, mustStopAt, {
      // Unless a plan that just began has lifted the trial's end.
      when: sql`must_stop_at <= ${now}`,
      before: (isOpen) => [mailQuery(ctx, email, mail, sql`${isOpen} AND ${isOpenAccount(run)}`)],
    })
    ctx.background(deliverMail(ctx))
    return now
  }
  const warnAt = warningTime(run)
  if (now >= warnAt) await warn(ctx, run, email)
  return Math.min(endsAt, mustStopAt, now < warnAt ? warnAt : Infinity)
}

/** A run ends at the earlier of its two ends. */
const END = sql`min(coalesce(must_stop_at, ${Number.MAX_SAFE_INTEGER}), coalesce(ends_at, ${Number.MAX_SAFE_INTEGER}))`

/** A condition on live rows of `server_sessions`: it's time to end them, or to warn that they will end. */
export function isEndDue(now: number): SQL {
  const from = sql`CASE WHEN ${END} = ends_at THEN requested_at ELSE billed_from END`
  return sql`(${END} <= ${now} OR (${END} <= ${now + WARN_MS} AND ${END} - ${from} > ${WARN_MS}
    AND coalesce(trial_warned_at, 0) < ${END} - ${WARN_MS}))`
}

/** Once for each end: a plan that lifts the trial's end leaves a later one. */
function warningTime({ mustStopAt, billedFrom, endsAt, requestedAt, trialWarnedAt }: RunRow): number {
  const end = Math.min(mustStopAt ?? Infinity, endsAt ?? Infinity)
  const from = end === endsAt ? requestedAt : billedFrom
  const warnAt = end - WARN_MS
  return from !== null && warnAt > from && (trialWarnedAt ?? 0) < warnAt ? warnAt : Infinity
}

/**
 * Unless a plan or a stop came in between. The mark and the email are one write, so there is one email. People who
 * set the end themselves need no email.
 */
async function warn(ctx: Context, run: RunRow, email: string): Promise<void> {
  const now = ctx.now()
  const { mustStopAt, endsAt } = run
  const end = Math.min(mustStopAt ?? Infinity, endsAt ?? Infinity)
  const minutes = Math.ceil((end - now) / MINUTE_MS)
  const isDue = sql`id = ${run.id} AND coalesce(trial_warned_at, 0) < ${end - WARN_MS}
    AND stop_requested_at IS NULL AND ${END} = ${end}`
  const when = sql`EXISTS (SELECT 1 FROM server_sessions WHERE ${isDue}) AND ${isOpenAccount(run)}`
  const event = serverEvent('server.ending_soon', run, { ends_at: toIso(end) })
  const [told] = await writeBatch(ctx.db, [
    eventQuery(ctx, run.userId, { ...event, about: `${run.id}_${end}` }, when),
    ...(end === endsAt ? [] : [mailQuery(ctx, email, trialEndingMail(siteOrigin(ctx), minutes), when)]),
    ctx.db.run(sql`UPDATE server_sessions SET trial_warned_at = ${now} WHERE ${isDue}`),
  ])
  sendSoon(ctx, run.userId, told)
  ctx.background(deliverMail(ctx))
}

/** We have no address left for a closed account. */
function isOpenAccount({ userId }: RunRow): SQL {
  return sql`EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND closed_at IS NULL)`
}
