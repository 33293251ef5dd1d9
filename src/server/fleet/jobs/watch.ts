import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { type RunRow, runs, users } from '../../../../db/schema.ts'
import { MINUTE_MS } from '../../../domain/instant.ts'
import { type Context, siteOrigin, withLogFields } from '../../context.ts'
import { deliverMail, mailQuery } from '../../mail/outbox.ts'
import { trialEndingMail, trialOverMail } from '../../mail/trial-letters.ts'
import { requestStop } from '../runs.ts'
import { alertIfRefused } from './refusals.ts'
import { takeLook } from './sight.ts'

/** How often we look at a running instance, so that we notice within a minute if it ended. */
const WATCH_EVERY_MS = 30_000
/** EC2 only stops our instances at their end: a stopped one never runs again. */
const ENDED = new Set(['shutting-down', 'terminated', 'stopping', 'stopped'])

/** How long before a trial ends we email that it will. A run that starts with less than that left has no warning. */
const WARN_MS = 5 * MINUTE_MS

/**
 * Looks at the user's running server: warns before a trial ends, ends a trial that has used up its minutes, and a run whose instance is
 * gone.
 * @returns when to look again; null if nothing runs
 */
export async function watchRunning(ctx: Context, userId: string): Promise<number | null> {
  const [row] = await ctx.db
    .select({ run: runs, email: users.email })
    .from(runs)
    .innerJoin(users, eq(users.id, runs.userId))
    .where(and(eq(runs.userId, userId), isNotNull(runs.runningAt), isNull(runs.stopRequestedAt), isNull(runs.endedAt)))
  if (!row || row.run.confirmedAt === null) return null
  const { run, email } = row
  const { confirmedAt } = row.run
  const now = ctx.now()
  if (run.mustStopAt !== null && now >= run.mustStopAt) {
    const mail = trialOverMail(siteOrigin(ctx))
    await requestStop(ctx, run, run.mustStopAt, {
      // Unless a plan that just began has lifted the trial's end.
      when: sql`must_stop_at <= ${now}`,
      before: (isOpen) => [mailQuery(ctx, email, mail, sql`${isOpen} AND ${isOpenAccount(run)}`)],
    })
    ctx.background(deliverMail(ctx))
    return now
  }
  const warnAt = warningTime(run)
  if (now >= warnAt) await warn(ctx, run, email)
  const trialEnd = Math.min(
    run.mustStopAt ?? Number.POSITIVE_INFINITY,
    now < warnAt ? warnAt : Number.POSITIVE_INFINITY,
  )
  if (now < confirmedAt + WATCH_EVERY_MS) return Math.min(confirmedAt + WATCH_EVERY_MS, trialEnd)

  const instance = await look(ctx, run)
  if (instance === 'failed') return Math.min(now + Math.round(WATCH_EVERY_MS * (1 + ctx.random())), trialEnd)
  if (instance === 'lost' || (instance !== 'unseen' && ENDED.has(instance.state))) {
    const failure = {
      code: 'instance_lost',
      message: 'Your server stopped unexpectedly. We only count the time until we last saw it running.',
    }
    await requestStop(ctx, run, confirmedAt, { failure })
    return now
  }
  if (instance !== 'unseen' && instance.state === 'running')
    await ctx.db.run(
      sql`UPDATE server_sessions SET confirmed_at = ${now} WHERE id = ${run.id} AND stop_requested_at IS NULL`,
    )
  return Math.min(now + WATCH_EVERY_MS, trialEnd)
}

/**
 * A failed look proves nothing. Thousands that EC2 throttles at once must not retry at once, or more often
 * than before.
 */
async function look(base: Context, run: RunRow) {
  const ctx = withLogFields(base, { runId: run.id, instanceId: run.instanceId })
  try {
    return await takeLook(ctx, run, run.instanceId ? await ctx.cloud.findInstance(run.instanceId) : null)
  } catch (error) {
    ctx.log('watch_failed', {}, error)
    await alertIfRefused(ctx, error)
    return 'failed'
  }
}

function warningTime({ mustStopAt, billedFrom, trialWarnedAt }: RunRow): number {
  const isDue =
    mustStopAt !== null && billedFrom !== null && trialWarnedAt === null && mustStopAt - billedFrom > WARN_MS
  return isDue ? mustStopAt - WARN_MS : Number.POSITIVE_INFINITY
}

/** Unless a plan or a stop came in between. The mark and the email are one write, so there is one email. */
async function warn(ctx: Context, run: RunRow, email: string): Promise<void> {
  const now = ctx.now()
  const minutes = Math.ceil(((run.mustStopAt ?? now) - now) / MINUTE_MS)
  const isDue = sql`id = ${run.id} AND trial_warned_at IS NULL AND must_stop_at IS NOT NULL AND stop_requested_at IS NULL`
  const when = sql`EXISTS (SELECT 1 FROM server_sessions WHERE ${isDue}) AND ${isOpenAccount(run)}`
  await writeBatch(ctx.db, [
    mailQuery(ctx, email, trialEndingMail(siteOrigin(ctx), minutes), when),
    ctx.db.run(sql`UPDATE server_sessions SET trial_warned_at = ${now} WHERE ${isDue}`),
  ])
  ctx.background(deliverMail(ctx))
}

/** A closed account has no address left to write to. */
function isOpenAccount({ userId }: RunRow): SQL {
  return sql`EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND closed_at IS NULL)`
}
