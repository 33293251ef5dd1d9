import { sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { launches } from '../../../../db/schema.ts'
import { lostReceipt, receipt } from '../../../domain/money/receipt.ts'
import { confirmMeter } from './confirm-meter.ts'
import { clearLaunches, freePlace } from './launches.ts'
import { nextLookIn } from './sight.ts'
import type { Step } from './step.ts'

/** Terminates the run's instance, waits until it is gone, and frees the place. The meter ended when the stop was accepted. */
export const stepServerStop: Step = async ({ ctx, job, session, report }) => {
  await report('Stopping server...')
  const metered = await confirmMeter(ctx, session)
  if (metered === 'unseen') return { wait: nextLookIn(ctx, session.unseenSince) }
  const wait = await clearLaunches(ctx, session)
  if (wait !== null) return { wait }
  const now = ctx.now()
  const refused = await ctx.db.$count(launches, sql`session_id = ${session.id} AND outcome = 'refused'`)
  const run = { ...metered, refused }
  await writeBatch(ctx.db, [
    ctx.db.run(sql`UPDATE server_sessions SET ended_at = ${now}, error_message = ${job.errorMessage}
      WHERE id = ${session.id} AND ended_at IS NULL`),
    freePlace(ctx, session),
    ctx.db.run(sql`UPDATE jobs SET status = ${job.errorCode ? 'failed' : 'succeeded'}, result = ${receipt(run)},
      error_message = ${job.errorMessage && lostReceipt(job.errorMessage, run)}, run_at = NULL, updated_at = ${now} WHERE id = ${job.id} AND run_at IS NOT NULL`),
  ])
  return 'finished'
}
