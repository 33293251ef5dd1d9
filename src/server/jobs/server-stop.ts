import { sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { runSeconds } from '../../domain/billing.ts'
import { formatUptime } from '../../domain/server.ts'
import type { SessionRow } from '../wire.ts'
import { confirmMeter } from './confirm-meter.ts'
import { clearLaunches, freePlace } from './launches.ts'
import type { Step } from './step.ts'

const LOOK_AGAIN_MS = 2_000

/** Terminates the run's instance, waits until it is gone, and frees the place. The meter ended when the stop was accepted. */
export const stepServerStop: Step = async ({ ctx, job, session, report }) => {
  await report('Stopping server...')
  const metered = await confirmMeter(ctx, session)
  if (!(await clearLaunches(ctx, session))) return { wait: LOOK_AGAIN_MS }
  const now = ctx.now()
  await writeBatch(ctx.db, [
    ctx.db.run(sql`UPDATE server_sessions SET ended_at = ${now}, error_message = ${job.errorMessage}
      WHERE id = ${session.id} AND ended_at IS NULL`),
    freePlace(ctx, session),
    ctx.db.run(sql`UPDATE jobs SET status = ${job.errorCode ? 'failed' : 'succeeded'}, result = ${receipt(metered)},
      run_at = NULL, updated_at = ${now} WHERE id = ${job.id} AND run_at IS NOT NULL`),
  ])
  return 'finished'
}

/** What ran, and what is not billed: the time from the request until it ran. */
function receipt({ requestedAt, runningAt, meteredUntil, mustStopAt }: SessionRow): string {
  if (runningAt === null || meteredUntil === null) return 'Server stopped before it was running. Nothing was billed.'
  const ran = formatUptime(runSeconds(runningAt, meteredUntil))
  if (mustStopAt !== null && meteredUntil >= mustStopAt)
    return `Your free trial minutes are used up, so the server was stopped. It ran ${ran}.`
  const loading = formatUptime(runSeconds(requestedAt, runningAt))
  return `Server stopped. It ran ${ran}. Not billed: ${loading} of loading.`
}
