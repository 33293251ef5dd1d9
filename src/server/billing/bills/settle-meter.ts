import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Query } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { launches, type RunRow } from '../../../../db/schema/fleet.ts'
import { shortSeconds, takeOff } from '../../../domain/money/ec2-credit.ts'
import type { Context } from '../../runtime/context.ts'
import { dueQuery } from './close-cycles.ts'
import { getRunCost } from './run-bill.ts'

/** What EC2's record changes about a run, for the batch that ends the run. */
export type Settled = {
  run: RunRow
  /** Whether that batch may write this: no bill has been written since. */
  when: SQL
  queries: Query[]
  /** What the run added to its months' bills, in units of 1e-7 USD. Null: closing counts it. */
  costUnits: number | null
}

const MOST_TRIES = 2

/**
 * Compares a run's meter with EC2's record of its machine. Seconds in which it wasn't there come off the meter, or, if
 * their bill is written, are left to `creditDueRuns`. Writes nothing itself.
 * @param attempts how often that batch couldn't be made
 */
export async function settleMeter(ctx: Context, run: RunRow, attempts = 0): Promise<Settled> {
  const settled = await takeOffShort(ctx, run)
  try {
    return { ...settled, costUnits: await getRunCost(ctx, settled.run) }
  } catch (error) {
    if (attempts < MOST_TRIES) throw error
    // A month that can't be counted must not keep the place from everyone.
    ctx.log('run_cost_not_read', {}, error)
    return { ...settled, queries: [readAgainQuery(ctx, run, sql`ended_at IS NULL`)], costUnits: null }
  }
}

async function takeOffShort(ctx: Context, run: RunRow): Promise<Omit<Settled, 'costUnits'>> {
  const { billedFrom, meteredUntil } = run
  const asIs = { run, when: sql`1`, queries: [] }
  if (billedFrom === null || meteredUntil === null) return asIs
  const [found] = await ctx.db
    .select({ launchedAt: launches.launchedAt, endedAt: launches.endedAt, billedUntil: users.billedUntil })
    .from(launches)
    .innerJoin(users, eq(users.id, run.userId))
    .where(and(eq(launches.runId, run.id), eq(launches.instanceId, run.instanceId ?? '')))
  if (!found) return asIs
  const ec2Difference =
    found.endedAt === null ? null : Math.floor(found.endedAt / 1000) - Math.floor(meteredUntil / 1000)
  const short = shortSeconds({ billedFrom, meteredUntil }, found)
  if (short === 0) return { ...asIs, run: { ...run, ec2Difference } }
  const { left, ...cut } = takeOff({ billedFrom, meteredUntil }, short, found.billedUntil)
  return {
    run: {
      ...run,
      ...cut,
      ec2Difference,
      shortSeconds: short,
      creditSeconds: left,
      creditAt: left ? ctx.now() : null,
    },
    when: sql`EXISTS (SELECT 1 FROM users WHERE id = ${run.userId} AND billed_until = ${found.billedUntil})`,
    queries: [readAgainQuery(ctx, run, sql`ended_at IS NULL`)],
  }
}

/** Makes a closing that read a longer meter for this run start over. @param when a condition on the run */
export function readAgainQuery(ctx: Context, { id, userId }: RunRow, when: SQL): Query {
  return dueQuery(ctx.db, userId, ctx.now(), sql`EXISTS (SELECT 1 FROM server_sessions WHERE id = ${id} AND ${when})`)
}
