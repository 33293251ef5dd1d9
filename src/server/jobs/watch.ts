import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { serverSessions } from '../../../db/schema.ts'
import type { Context } from '../context.ts'
import { requestStop } from '../services/servers.ts'

/** A running instance is looked at this often, so that one that vanished is noticed within a minute. */
export const WATCH_EVERY_MS = 30_000

/**
 * Looks at the user's running server: ends a trial whose minutes are over, and a run whose instance is gone.
 * @returns when to look again, null when nothing runs
 */
export async function watchRunning(ctx: Context, userId: string): Promise<number | null> {
  const [session] = await ctx.db
    .select()
    .from(serverSessions)
    .where(
      and(
        eq(serverSessions.userId, userId),
        isNotNull(serverSessions.runningAt),
        isNull(serverSessions.stopRequestedAt),
        isNull(serverSessions.endedAt),
      ),
    )
  if (!session || session.confirmedAt === null) return null
  const now = ctx.now()
  if (session.mustStopAt !== null && now >= session.mustStopAt) {
    await requestStop(ctx, session, session.mustStopAt)
    return now
  }
  const trialEnd = session.mustStopAt ?? Number.POSITIVE_INFINITY
  if (now < session.confirmedAt + WATCH_EVERY_MS) return Math.min(session.confirmedAt + WATCH_EVERY_MS, trialEnd)

  const instance = session.instanceId ? await ctx.cloud.findInstance(session.instanceId) : null
  if (instance?.state !== 'running') {
    await requestStop(ctx, session, session.confirmedAt, {
      code: 'instance_lost',
      message: 'Your server ended unexpectedly. Only the time until it was last seen running is counted.',
    })
    return now
  }
  await ctx.db.run(
    sql`UPDATE server_sessions SET confirmed_at = ${now} WHERE id = ${session.id} AND stop_requested_at IS NULL`,
  )
  return Math.min(now + WATCH_EVERY_MS, trialEnd)
}
