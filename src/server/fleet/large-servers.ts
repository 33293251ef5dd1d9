import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { users } from '../../../db/schema/accounts.ts'
import { places, type RunRow, runs } from '../../../db/schema/fleet.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, toIso } from '../../domain/instant.ts'
import { BASIC, PREMIUM } from '../../domain/money/plan.ts'
import { findPlanEnd } from '../billing/allowance.ts'
import { readAgainQuery } from '../billing/bills/settle-meter.ts'
import { tellQueries, tellSoon } from '../mail/notices.ts'
import { largeServerMail } from '../mail/plan-letters.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { fourAtOnce } from '../runtime/four-at-once.ts'
import { runEventQuery } from '../runtime/run-events.ts'

/**
 * A server that is larger than the plan ends with the period in which the plan was made smaller or canceled. We look up
 * the next plan each minute, so nothing needs to be undone when its owner keeps or changes it, until shortly before the
 * end: then it becomes the run's `ends_at`, and the user's own alarm stops it to the second.
 */

const BATCH = 100
/** Longer than the warnings before any end take. */
const SET_AHEAD_MS = 15 * MINUTE_MS
/** If we hear of a smaller plan later than this, its server isn't free for that time. */
const LATEST_MS = DAY_MS

/** Most owners' plans just go on: `planEndOf` gives those no end. */
const STAYS = sql`EXISTS (SELECT 1 FROM subscriptions WHERE user_id = ${runs.userId} AND ended_at IS NULL
  AND cancel_at IS NULL AND next_plan_type IS NULL AND plan_type = ${PREMIUM.type} AND ${places.gpus} <= ${PREMIUM.gpus})`

type Large = { run: RunRow; email: string | null; billedUntil: number; gpus: number }

/** Warns owners of servers that their plan won't include, and sets their end. Run by cron, which may be late or double. */
export async function endLargeServers(ctx: Context): Promise<void> {
  const rows = await ctx.db
    .select({
      run: runs,
      email: sql<string | null>`CASE WHEN ${users.closedAt} IS NULL THEN ${users.email} END`,
      billedUntil: users.billedUntil,
      gpus: places.gpus,
    })
    .from(runs)
    .innerJoin(places, and(eq(places.id, runs.placeId), gt(places.gpus, BASIC.gpus)))
    .innerJoin(users, eq(users.id, runs.userId))
    .where(and(isNull(runs.endedAt), isNull(runs.stopRequestedAt), sql`NOT ${STAYS}`))
    // If there are more, the random order leaves nobody out for good.
    .orderBy(sql`random()`)
    .limit(BATCH)
  await fourAtOnce(rows, (row) =>
    look(ctx, row).catch((error) => ctx.log('large_server_failed', { runId: row.run.id }, error)),
  )
}

async function look(ctx: Context, { run, email, billedUntil, gpus }: Large): Promise<void> {
  const end = await findPlanEnd(ctx, run.userId, gpus)
  if (end === null) return
  const now = ctx.now()
  if (email && now < end) await warn(ctx, run, email, { gpus, end })
  if (now < end - SET_AHEAD_MS) return
  const channel = ctx.channel(run.userId)
  await channel.arm(run.userId)
  // A written bill stays as it is, including the whole second in which its cycle ends. A bill that is being written
  // must read the run again.
  const endsAt = Math.max(end, now - LATEST_MS, Math.ceil(billedUntil / 1000) * 1000)
  const isDue = sql`stop_requested_at IS NULL AND ended_at IS NULL AND coalesce(ends_at, ${endsAt + 1}) > ${endsAt}
    AND (SELECT billed_until FROM users WHERE id = ${run.userId}) = ${billedUntil}`
  await writeBatch(ctx.db, [
    readAgainQuery(ctx, run, isDue),
    runEventQuery(ctx, run.id, { what: 'end_set', detail: toIso(endsAt), by: 'plan' }, isDue),
    ctx.db.run(sql`UPDATE server_sessions SET own_ends_at = CASE WHEN plan_ends OR idle_ends THEN own_ends_at ELSE ends_at END,
      ends_at = ${endsAt}, ends_set_at = ${now}, plan_ends = 1, idle_ends = 0 WHERE id = ${run.id} AND ${isDue}`),
  ])
  await channel.wake(run.userId)
}

/** One email when we know of the end, one a day before it, and one an hour before. */
async function warn(ctx: Context, run: RunRow, email: string, { gpus, end }: { gpus: number; end: number }) {
  const left = end - ctx.now()
  const stage = left <= HOUR_MS ? 'hour' : left <= DAY_MS ? 'day' : 'known'
  const isLive = sql`EXISTS (SELECT 1 FROM server_sessions WHERE id = ${run.id} AND stop_requested_at IS NULL
    AND coalesce(ends_at, ${end}) >= ${end})`
  const mail = largeServerMail(siteOrigin(ctx), { gpus, end })
  const to = { id: run.userId, email }
  const written = await writeBatch(ctx.db, tellQueries(ctx, to, mail, isLive, `large:${run.id}:${end}:${stage}`))
  tellSoon(ctx, run.userId, written.at(-1))
}
