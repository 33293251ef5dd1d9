import { sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { launches, runs } from '../../../../db/schema/fleet.ts'
import { lostReceipt, receipt } from '../../../domain/money/receipt.ts'
import { STOPPING } from '../../../domain/server-list.ts'
import { eventQuery, sendSoon } from '../../events/outbox.ts'
import { tellSoon } from '../../mail/notices.ts'
import { deliverMail } from '../../mail/outbox.ts'
import { siteOrigin } from '../../runtime/context.ts'
import { serverEvent } from '../server-events.ts'
import { confirmMeter } from './confirm-meter.ts'
import { clearLaunches, freePlaceQueries } from './launches.ts'
import { nextLookIn } from './sight.ts'
import type { Step } from './step.ts'
import { endedQueries } from './tell-ended.ts'

/**
 * Terminates the run's instance, waits until it is gone, and frees the place. The meter stopped when we
 * accepted the stop.
 */
export const stepServerStop: Step = async ({ ctx, job, run, report }) => {
  const isSaving = run.filesMode === 'write' && (run.filesPhase === 'loading' || run.filesPhase === 'loaded')
  if (job.status === 'queued' || !isSaving) await report(STOPPING)
  const metered = await confirmMeter(ctx, run)
  if (metered === 'unseen') return { wait: nextLookIn(ctx, run.unseenSince) }
  const wait = await clearLaunches(ctx, run)
  if (wait !== null) {
    // EC2 has told the machine to shut down: it stops the simulator, and then saves what is left.
    if (isSaving) await report('Saving your files…')
    return { wait }
  }
  const { settleMeter } = await import('../../billing/bills/settle-meter.ts')
  const heard = run.untilExit
    ? await (await import('./program-end.ts')).meterToLastWord(ctx, metered, job.attempts)
    : metered
  const settled = await settleMeter(ctx, heard, job.attempts)
  const now = ctx.now()
  const { endLog, lastWords } = await import('../run-log.ts')
  await endLog(ctx, run.id)
  const refused = await ctx.db.$count(launches, sql`session_id = ${run.id} AND outcome = 'refused'`)
  const { costUnits } = settled
  const ended = { ...settled.run, refused, costUnits }
  const after = { ...ended, endedAt: now, errorMessage: job.errorMessage }
  const failed = job.errorMessage && lostReceipt(job.errorMessage, ended)
  const because = ended.endedBecause
  const how = job.errorCode ? 'server.failed' : because === 'exited' ? 'server.exited' : 'server.stopped'
  const event = serverEvent(ctx, how, after)
  const { endedMail } = await import('../../mail/ended-letters.ts')
  const message = endedMail(siteOrigin(ctx), ended, failed ?? receipt(ended), await lastWords(ctx, run))
  const isEnded = sql`EXISTS (SELECT 1 FROM server_sessions WHERE id = ${run.id} AND ended_at = ${now})`
  const told = endedQueries(ctx, run, message, isEnded, because)
  const results = await writeBatch(ctx.db, [
    ...settled.queries,
    ctx.db.run(sql`UPDATE server_sessions SET ended_at = ${now}, cost_units = ${costUnits},
      metered_until = ${ended.meteredUntil}, short_seconds = ${ended.shortSeconds}, credit_seconds = ${ended.creditSeconds},
      credit_at = ${ended.creditAt}, ec2_difference = ${ended.ec2Difference}, error_message = ${job.errorMessage}
      WHERE id = ${run.id} AND ended_at IS NULL AND ${settled.when}`),
    ...freePlaceQueries(ctx, run),
    ctx.db.run(sql`UPDATE jobs SET status = ${job.errorCode ? 'failed' : 'succeeded'}, result = ${receipt(ended)},
      error_message = ${failed}, run_at = NULL, updated_at = ${now}
      WHERE id = ${job.id} AND run_at IS NOT NULL
      AND EXISTS (SELECT 1 FROM server_sessions WHERE id = ${run.id} AND ended_at IS NOT NULL)`),
    eventQuery(ctx, run.userId, event, isEnded),
    ...told,
  ])
  // If a bill was written since we read EC2's record, less is left to take off the meter.
  if (
    results.at(-told.length - 2)?.rowsAffected === 0 &&
    (await ctx.db.$count(runs, sql`id = ${run.id} AND ended_at IS NULL`))
  )
    return { wait: 0 }
  sendSoon(ctx, run.userId, results.at(-told.length - 1))
  tellSoon(ctx, run.userId, results.at(-1))
  ctx.background(deliverMail(ctx))
  return 'finished'
}
