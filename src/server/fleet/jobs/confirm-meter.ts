import { sql } from 'drizzle-orm'
import type { RunRow } from '../../../../db/schema/fleet.ts'
import type { Context } from '../../runtime/context.ts'
import { takeLook } from './sight.ts'

/**
 * We bill nothing after the last moment we saw a run running: its instance may have vanished between the last
 * look and the stop. Looks once more before we terminate anything, and moves either `confirmed_at` or
 * `metered_until`, so that both agree.
 * @returns 'unseen' if EC2 can't find the instance, which decides nothing yet
 */
export async function confirmMeter(ctx: Context, run: RunRow): Promise<RunRow | 'unseen'> {
  const { billedFrom, confirmedAt, meteredUntil, instanceId } = run
  // The machine's last word limits the bill (`meterToLastWord`): a machine whose program has ended is soon gone, and
  // has run until then.
  if (run.untilExit) return run
  if (billedFrom === null || meteredUntil === null || meteredUntil <= (confirmedAt ?? billedFrom)) return run
  const instance = instanceId ? await takeLook(ctx, run, await ctx.cloud.findInstance(instanceId)) : 'lost'
  if (instance === 'unseen') return 'unseen'
  const seen =
    instance !== 'lost' && instance.state === 'running'
      ? { meteredUntil, confirmedAt: meteredUntil }
      : { meteredUntil: confirmedAt ?? billedFrom, confirmedAt: confirmedAt ?? billedFrom }
  await ctx.db.run(sql`UPDATE server_sessions SET metered_until = ${seen.meteredUntil}, confirmed_at = ${seen.confirmedAt}
    WHERE id = ${run.id} AND metered_until = ${meteredUntil} AND ended_at IS NULL`)
  return { ...run, ...seen }
}
