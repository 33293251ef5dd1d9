import { sql } from 'drizzle-orm'
import { alertOnce } from '../mail/alerts.ts'
import type { CloudInstance } from '../ports/cloud.ts'
import { FLEET, LINE } from '../ports/objects.ts'
import type { Context } from '../runtime/context.ts'
import { fourAtOnce } from '../runtime/four-at-once.ts'
import { isEndDue } from './jobs/ends.ts'

const WAKES_AT_ONCE = 500
const INSTANCES_PER_STATEMENT = 1_000
const ORPHANS_AT_ONCE = 200
const LATE_MS = 5_000

/** The safety net under the watcher's alarm, and what starts it after the first deployment. */
export async function reviveWatcher(ctx: Context): Promise<void> {
  await ctx.fleetWatcher.revive(FLEET, ctx.now())
}

/**
 * The safety net under the users' alarms and the line's: wakes every channel with overdue work. Driven by the database, so it may
 * run at any interval.
 */
export async function wakeOverdue(ctx: Context): Promise<number> {
  const now = ctx.now()
  // If there are more, the random order leaves nobody out for good.
  const rows = await ctx.db.all<{ user_id: string }>(sql`SELECT user_id FROM (
    SELECT user_id FROM jobs WHERE run_at IS NOT NULL AND run_at < ${now - LATE_MS}
    UNION SELECT user_id FROM server_sessions
      WHERE ended_at IS NULL AND stop_requested_at IS NULL AND (${isEndDue(now)} OR idle_look_at < ${now - LATE_MS} OR exited_at < ${now - LATE_MS})
    UNION SELECT ${LINE} WHERE EXISTS (SELECT 1 FROM line)
    ) ORDER BY random() LIMIT ${WAKES_AT_ONCE}`)
  await fourAtOnce(rows, ({ user_id }) =>
    user_id === LINE ? ctx.lineKeeper.revive(LINE, now) : ctx.channel(user_id).wake(user_id),
  )
  return rows.length
}

/**
 * Ends our instances that no run owns: their run has ended, or EC2 carried out a request that we had given
 * up. Leaves instances alone that this database doesn't know: they may belong to another stage in the same
 * account.
 */
export async function endOrphans(ctx: Context, instances: CloudInstance[]): Promise<string[]> {
  const alive = instances.filter(({ state }) => state === 'running' || state === 'pending')
  const orphans: string[] = []
  for (let i = 0; i < alive.length; i += INSTANCES_PER_STATEMENT) {
    const some = alive
      .slice(i, i + INSTANCES_PER_STATEMENT)
      .map(({ id, tags, token }) => [id, tags.session ?? '', token ?? ''])
    const found = await ctx.db.all<{ id: string }>(sql`SELECT value ->> 0 AS id FROM json_each(${JSON.stringify(some)})
      WHERE EXISTS (SELECT 1 FROM server_sessions WHERE id = value ->> 1 AND ended_at IS NOT NULL)
      OR EXISTS (SELECT 1 FROM launches WHERE token = value ->> 2 AND outcome IN ('refused', 'gone'))
      OR EXISTS (SELECT 1 FROM warm_machines WHERE token = value ->> 2 AND ended_at IS NOT NULL)`)
    orphans.push(...found.map(({ id }) => id))
  }
  await alertOnce(ctx, {
    matters: orphans.map((id) => `orphan:${id}`),
    alert: (fresh) => {
      const instanceIds = fresh.map((matter) => matter.slice('orphan:'.length))
      return {
        subject: fresh.length === 1 ? 'A server without a run' : `${fresh.length} servers without a run`,
        sentences: [
          'These instances belong to runs that have ended, or to launches that we gave up. Nobody pays for them. We end them now, and retry every 20 seconds.',
          'If one stays alive, search the log for orphan_not_ended.',
          `${instanceIds.join(', ')}.`,
        ],
        fields: { instanceIds },
      }
    },
  })
  // The next look retries those that we can't end now.
  await fourAtOnce(orphans.slice(0, ORPHANS_AT_ONCE), async (id) => {
    try {
      await ctx.cloud.terminate(id)
    } catch (error) {
      ctx.log('orphan_not_ended', { instanceId: id }, error)
      throw error
    }
  })
  return orphans
}
