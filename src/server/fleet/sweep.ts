import { inArray, sql } from 'drizzle-orm'
import type { Context } from '../context.ts'
import { fourAtOnce } from '../four-at-once.ts'
import { alertOnce } from '../mail/alerts.ts'

const BATCH = 500
const LATE_MS = 5_000
/**
 * We look at a running server every 30 s, or every 60 s while EC2 throttles us. After this long without a
 * look, it may have been forgotten.
 */
const FORGOTTEN_MS = 90_000

/**
 * The safety net under the alarms: wakes every channel with overdue work, and makes sure that one whose
 * server hasn't been seen lately has an alarm. Driven by the database, so it may run at any interval.
 */
export async function wakeOverdue(ctx: Context): Promise<number> {
  const now = ctx.now()
  // If there are more, due work goes first, and the random order leaves nobody out for good.
  const rows = await ctx.db.all<{ user_id: string; due: 0 | 1 }>(sql`SELECT user_id, max(due) AS due FROM (
    SELECT user_id, 1 AS due FROM jobs WHERE run_at IS NOT NULL AND run_at < ${now - LATE_MS}
    UNION SELECT user_id, coalesce(must_stop_at <= ${now}, 0) FROM server_sessions
      WHERE ended_at IS NULL AND stop_requested_at IS NULL AND running_at IS NOT NULL
      AND (confirmed_at < ${now - FORGOTTEN_MS} OR must_stop_at <= ${now})
    ) GROUP BY user_id ORDER BY due DESC, random() LIMIT ${BATCH}`)
  await fourAtOnce(rows, ({ user_id, due }) =>
    due ? ctx.channel(user_id).wake(user_id) : ctx.channel(user_id).revive(user_id, now),
  )
  return rows.length
}

/**
 * Ends our instances that no run owns: their run has ended, or EC2 carried out a request that we had given
 * up. Leaves instances alone that this database doesn't know: they may belong to another stage in the same
 * account.
 */
export async function endOrphans(ctx: Context): Promise<string[]> {
  const alive = (await ctx.cloud.listInstances()).filter(
    (instance) => instance.state === 'running' || instance.state === 'pending',
  )
  const orphans: string[] = []
  for (let i = 0; i < alive.length; i += BATCH) {
    const some = alive.slice(i, i + BATCH)
    const [runs, launches] = await Promise.all([
      ctx.db.all<{ id: string }>(sql`SELECT id FROM server_sessions
        WHERE ended_at IS NOT NULL AND ${inArray(
          sql`id`,
          some.map(({ tags }) => tags.session ?? ''),
        )}`),
      ctx.db.all<{ token: string }>(sql`SELECT token FROM launches
        WHERE outcome IN ('refused', 'gone') AND ${inArray(
          sql`token`,
          some.map(({ token }) => token ?? ''),
        )}`),
    ])
    const ended = new Set(runs.map(({ id }) => id))
    const givenUp = new Set(launches.map(({ token }) => token))
    for (const { id, tags, token } of some)
      if (ended.has(tags.session ?? '') || givenUp.has(token ?? '')) orphans.push(id)
  }
  await alertOnce(ctx, {
    matters: orphans.map((id) => `orphan:${id}`),
    alert: (fresh) => {
      const instanceIds = fresh.map((matter) => matter.slice('orphan:'.length))
      return {
        subject: fresh.length === 1 ? 'A server without a run' : `${fresh.length} servers without a run`,
        sentences: [
          'These instances belong to runs that have ended, or to launches that we gave up. Nobody pays for them. We end them now, and retry every minute.',
          'If one stays alive, search the log for orphan_not_ended.',
          `${instanceIds.join(', ')}.`,
        ],
        fields: { instanceIds },
      }
    },
  })
  // The next sweep retries those that we can't end now.
  await fourAtOnce(orphans, async (id) => {
    try {
      await ctx.cloud.terminate(id)
    } catch (error) {
      ctx.log('orphan_not_ended', { instanceId: id }, error)
      throw error
    }
  })
  return orphans
}
