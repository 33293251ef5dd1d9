import { sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { launches } from '../../../../db/schema.ts'
import { lostReceipt, receipt } from '../../../domain/money/receipt.ts'
import { getRunCost } from '../../billing/bills/usage.ts'
import { eventQuery, sendSoon } from '../../events/outbox.ts'
import { serverEvent } from '../server-events.ts'
import { confirmMeter } from './confirm-meter.ts'
import { clearLaunches, freePlace } from './launches.ts'
import { nextLookIn } from './sight.ts'
import type { Step } from './step.ts'

/**
 * Terminates the run's instance, waits until it is gone, and frees the place. The meter stopped when we
 * accepted the stop.
 */
export const stepServerStop: Step = async ({ ctx, job, run, report }) => {
  await report('Stopping server...')
  const metered = await confirmMeter(ctx, run)
  if (metered === 'unseen') return { wait: nextLookIn(ctx, run.unseenSince) }
  const wait = await clearLaunches(ctx, run)
  if (wait !== null) return { wait }
  const now = ctx.now()
  const refused = await ctx.db.$count(launches, sql`session_id = ${run.id} AND outcome = 'refused'`)
  const costUnits = await getRunCost(ctx, metered)
  const ended = { ...metered, refused, costUnits }
  const event = serverEvent(job.errorCode ? 'server.failed' : 'server.stopped', {
    ...ended,
    endedAt: now,
    errorMessage: job.errorMessage,
  })
  const isEnded = sql`EXISTS (SELECT 1 FROM server_sessions WHERE id = ${run.id} AND ended_at = ${now})`
  const [, told] = await writeBatch(ctx.db, [
    ctx.db.run(sql`UPDATE server_sessions SET ended_at = ${now}, cost_units = ${costUnits},
      error_message = ${job.errorMessage}
      WHERE id = ${run.id} AND ended_at IS NULL`),
    eventQuery(ctx, run.userId, event, isEnded),
    freePlace(ctx, run),
    ctx.db.run(sql`UPDATE jobs SET status = ${job.errorCode ? 'failed' : 'succeeded'}, result = ${receipt(ended)},
      error_message = ${job.errorMessage && lostReceipt(job.errorMessage, ended)}, run_at = NULL, updated_at = ${now} WHERE id = ${job.id} AND run_at IS NOT NULL`),
  ])
  sendSoon(ctx, run.userId, told)
  return 'finished'
}
