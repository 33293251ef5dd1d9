import { eq, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { serverSessions } from '../../../db/schema.ts'
import { runSeconds } from '../../domain/billing.ts'
import { formatUptime } from '../../domain/server.ts'
import type { Context } from '../context.ts'
import type { SessionRow } from '../wire.ts'
import { clearLaunches, freePlace } from './launches.ts'
import type { Step } from './step.ts'

const LOOK_AGAIN_MS = 2_000

/**
 * Terminates the run's instance, waits until it is gone, and frees the place. The meter ended when the stop was accepted,
 * or when the instance was last seen, if it had vanished before.
 */
export const stepServerStop: Step = async ({ ctx, job, session: before, report }) => {
  await report('Stopping server...')
  const session = await settleMeter(ctx, before)
  if (!(await clearLaunches(ctx, session))) return { wait: LOOK_AGAIN_MS }
  const now = ctx.now()
  await writeBatch(ctx.db, [
    ctx.db.run(sql`UPDATE server_sessions SET ended_at = ${now}, error_message = ${job.errorMessage}
      WHERE id = ${session.id} AND ended_at IS NULL`),
    freePlace(ctx, session),
    ctx.db.run(sql`UPDATE jobs SET status = ${job.errorCode ? 'failed' : 'succeeded'}, result = ${receipt(session)},
      run_at = NULL, updated_at = ${now} WHERE id = ${job.id} AND run_at IS NOT NULL`),
  ])
  return 'finished'
}

/**
 * Nobody pays for time in which the instance was already gone. Must be known before EC2 is told to end it: afterwards nobody could
 * tell who did. So it is written down that it was seen, and a repeated step does not look again.
 */
async function settleMeter(ctx: Context, session: SessionRow): Promise<SessionRow> {
  const { id, instanceId, runningAt, confirmedAt, meteredUntil } = session
  if (!instanceId || runningAt === null || confirmedAt === null || meteredUntil === null) return session
  if (confirmedAt >= meteredUntil) return session
  const instance = await ctx.cloud.findInstance(instanceId)
  const seen =
    instance?.state === 'running'
      ? { confirmedAt: Math.max(meteredUntil, ctx.now()), meteredUntil }
      : { confirmedAt, meteredUntil: confirmedAt }
  await ctx.db.update(serverSessions).set(seen).where(eq(serverSessions.id, id))
  return { ...session, ...seen }
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
