import { and, eq, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { startTimes } from '../../../db/schema/fleet.ts'
import { ESTIMATE_MS, estimateWait, FEWEST_WAITS } from '../../domain/estimate.ts'
import { DAY_MS, MINUTE_MS } from '../../domain/instant.ts'
import type { Context } from '../runtime/context.ts'
import { HAS_OWN_IMAGE } from './jobs/images.ts'

/** How far back we look for starts that ended. */
const RECENT_MS = 30 * MINUTE_MS
/** How often we count a kind that starts all the time. The others are counted daily, because starts grow too old. */
const COUNT_AGAIN_MS = 10 * MINUTE_MS
/** Kinds per minute, starting with those that have waited longest. */
const MOST_KINDS = 50
/** Starts per kind, the latest ones. */
const MOST_STARTS = 1_000

type Kind = Pick<typeof startTimes.$inferSelect, 'owner' | 'environment' | 'instanceType' | 'untilExit'>

/**
 * Measures how long starts take: from the click, or from the turn in line, until they are ready. Waiting in line isn't
 * part of it. Starts with a warm machine are counted apart. A start that failed or was canceled counts as one that
 * would have taken longer than it lasted, so it can only make the estimate later. Run by cron each minute; reads few
 * kinds, and few starts of each.
 */
export async function countStartTimes(ctx: Context): Promise<void> {
  const now = ctx.now()
  const rows = await ctx.db.all<Omit<Kind, 'untilExit'> & { untilExit: 0 | 1 }>(sql`
    SELECT owner, environment, instance_type AS "instanceType", until_exit AS "untilExit" FROM (
      SELECT ended.*, coalesce(counted_at, 0) AS at FROM (
        SELECT DISTINCT CASE WHEN ${HAS_OWN_IMAGE} THEN server_sessions.user_id ELSE '' END AS owner, environment, instance_type, until_exit
        FROM jobs CROSS JOIN server_sessions ON server_sessions.id = session_id
        WHERE run_at IS NULL AND updated_at > ${now - RECENT_MS} AND kind = 'server_start' AND environment IS NOT NULL) AS ended
      LEFT JOIN start_times AS known ON known.owner = ended.owner AND known.environment = ended.environment
        AND known.instance_type = ended.instance_type AND known.until_exit = ended.until_exit
      WHERE coalesce(counted_at, 0) <= ${now - COUNT_AGAIN_MS}
      UNION ALL SELECT owner, environment, instance_type, until_exit, counted_at FROM start_times WHERE counted_at <= ${now - DAY_MS})
    ORDER BY at LIMIT ${MOST_KINDS}`)
  const kinds = rows.map((kind): Kind => ({ ...kind, untilExit: kind.untilExit === 1 }))
  const [first, ...others] = kinds.map((kind) => startsQuery(ctx, kind, now))
  if (!first) return
  const found = await ctx.db.batch([first, ...others])
  await writeBatch(
    ctx.db,
    kinds.map((kind, i) => {
      const starts = found[i] ?? []
      if (!starts.length) return ctx.db.delete(startTimes).where(isKind(kind))
      const [cold, warm] = ([0, 1] as const).map((told) =>
        estimateWait(
          starts.flatMap(({ warm, waitedMs, served }) => (warm === told ? { waitedMs, served: served === 1 } : [])),
        ),
      )
      const counted = {
        p50: cold?.p50 ?? null,
        p90: cold?.p90 ?? null,
        warmP50: warm?.p50 ?? null,
        warmP90: warm?.p90 ?? null,
        countedAt: now,
      }
      return ctx.db
        .insert(startTimes)
        .values({ ...kind, ...counted })
        .onConflictDoUpdate({
          target: [startTimes.owner, startTimes.environment, startTimes.instanceType, startTimes.untilExit],
          set: counted,
        })
    }),
  )
}

/**
 * The latest starts of a kind. For an image of the catalog, the latest few of each account, so that one account's large
 * files or slow scenes don't decide for everyone.
 */
function startsQuery(ctx: Context, { owner, environment, instanceType, untilExit }: Kind, now: number) {
  // By the owner's index, because others may have used the same name a lot.
  const ofKind = owner
    ? sql`user_id = ${owner} AND +environment = ${environment} AND ${HAS_OWN_IMAGE}`
    : sql`environment = ${environment} AND NOT ${HAS_OWN_IMAGE}`
  return ctx.db.all<{
    warm: 0 | 1
    waitedMs: number
    served: 0 | 1
  }>(sql`SELECT warm, waited_ms AS "waitedMs", served FROM (
    SELECT *, row_number() OVER (PARTITION BY user_id, warm ORDER BY requested_at DESC) AS nth FROM (
      SELECT user_id, requested_at, told_warm AS warm, billed_from IS NOT NULL AS served,
        coalesce(billed_from, stop_requested_at, ended_at, ${now}) - requested_at AS waited_ms
      FROM server_sessions WHERE ${ofKind} AND instance_type = ${instanceType} AND until_exit = ${untilExit ? 1 : 0}
      AND requested_at > ${now - ESTIMATE_MS} ORDER BY requested_at DESC LIMIT ${MOST_STARTS}))
    WHERE nth <= ${owner ? MOST_STARTS : FEWEST_WAITS}`)
}

function isKind({ owner, environment, instanceType, untilExit }: Kind) {
  return and(
    eq(startTimes.owner, owner),
    eq(startTimes.environment, environment),
    eq(startTimes.instanceType, instanceType),
    eq(startTimes.untilExit, untilExit),
  )
}
