import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { type SessionRow, serverSessions } from '../../../../db/schema.ts'
import { type Context, withLogFields } from '../../context.ts'
import { requestStop } from '../servers.ts'
import { alertIfRefused } from './refusals.ts'
import { takeLook } from './sight.ts'

/** A running instance is looked at this often, so that one that ended is noticed within a minute. */
const WATCH_EVERY_MS = 30_000
/** EC2 stops an instance of ours only at its end: a stopped one does not run again. */
const ENDED = new Set(['shutting-down', 'terminated', 'stopping', 'stopped'])

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

  const instance = await look(ctx, session)
  if (instance === 'failed') return Math.min(now + Math.round(WATCH_EVERY_MS * (1 + ctx.random())), trialEnd)
  if (instance === 'lost' || (instance !== 'unseen' && ENDED.has(instance.state))) {
    await requestStop(ctx, session, session.confirmedAt, {
      code: 'instance_lost',
      message: 'Your server ended unexpectedly. Only the time until it was last seen running is counted.',
    })
    return now
  }
  if (instance !== 'unseen' && instance.state === 'running')
    await ctx.db.run(
      sql`UPDATE server_sessions SET confirmed_at = ${now} WHERE id = ${session.id} AND stop_requested_at IS NULL`,
    )
  return Math.min(now + WATCH_EVERY_MS, trialEnd)
}

/** A look that fails proves nothing. Thousands that are throttled at once must not come back at once, nor more often than before. */
async function look(base: Context, session: SessionRow) {
  const ctx = withLogFields(base, { sessionId: session.id, instanceId: session.instanceId })
  try {
    return await takeLook(ctx, session, session.instanceId ? await ctx.cloud.findInstance(session.instanceId) : null)
  } catch (error) {
    ctx.log('watch_failed', {}, error)
    await alertIfRefused(ctx, error)
    return 'failed'
  }
}
