import { and, eq, isNotNull, isNull, or, sql } from 'drizzle-orm'
import { users } from '../../../../db/schema/accounts.ts'
import { runs } from '../../../../db/schema/fleet.ts'
import { NOT_CHARGED, TIME_UP_EARLY } from '../../../domain/money/receipt.ts'
import { tellQueries } from '../../mail/notices.ts'
import { deliverMail } from '../../mail/outbox.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'
import { requestStop } from '../stop-run.ts'
import { toServer } from '../wire.ts'
import { endedCause, isOpenAccount, warningTime } from './ends.ts'
import { lookIdle } from './idle.ts'
import type { Tell } from './step.ts'

const hasEnd = or(isNotNull(runs.mustStopAt), isNotNull(runs.endsAt), and(runs.untilExit, isNotNull(runs.billedFrom)))

/**
 * Ends the user's server at the time they set, when their trial is over, or with its program, and warns before that.
 * @param tell gets each warning, for open pages
 * @returns when to look again; null if nothing has an end
 */
export async function watchEnd(ctx: Context, userId: string, tell: Tell): Promise<number | null> {
  const [row] = await ctx.db
    .select({ run: runs, email: users.email, minutes: users.idleMinutes })
    .from(runs)
    .innerJoin(users, eq(users.id, runs.userId))
    .where(and(eq(runs.userId, userId), hasEnd, isNull(runs.stopRequestedAt), isNull(runs.endedAt)))
  if (!row) return null
  const { run, email, minutes } = row
  const [mustStopAt, endsAt] = [run.mustStopAt ?? Infinity, run.endsAt ?? Infinity]
  const now = ctx.now()
  // If its program exited after the trial's end, the run ended with the trial, and gets its email.
  const isOfItsProgram = run.untilExit && !((run.exitedAt ?? 0) > mustStopAt && mustStopAt <= endsAt)
  const programAt = isOfItsProgram ? await (await import('./program-end.ts')).endWithProgram(ctx, run) : Infinity
  if (programAt <= now) return now
  if (now >= endsAt && endsAt < mustStopAt) {
    // If we are late, someone may be using it again.
    if (run.idleEnds) await lookIdle(ctx, { run, minutes }, tell)
    // Unless it has just been moved.
    const when = sql`ends_at = ${endsAt}`
    await requestStop(ctx, run, endsAt, { cancelled: `${TIME_UP_EARLY} ${NOT_CHARGED}`, when })
    return now
  }
  if (now >= mustStopAt) {
    const { trialOverMail } = await import('../../mail/trial-letters.ts')
    const mail = trialOverMail(siteOrigin(ctx))
    await requestStop(ctx, run, mustStopAt, {
      // Unless a plan that just began has lifted the trial's end.
      when: sql`must_stop_at <= ${now}`,
      before: (isOpen) =>
        tellQueries(ctx, { id: userId, email }, mail, sql`${isOpen} AND ${isOpenAccount(run)}`, endedCause(run.id)),
    })
    ctx.background(deliverMail(ctx))
    return now
  }
  const warnAt = warningTime(run)
  if (now >= warnAt && (await (await import('./warn.ts')).warnOfEnd(ctx, run, email)))
    tell('server.ending', toServer(run, ctx.config))
  return Math.min(endsAt, mustStopAt, programAt, now < warnAt ? warnAt : Infinity)
}
