import { and, desc, gt, isNull, notInArray, or, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../db/client.ts'
import { incidents, statusChecks } from '../../../db/schema/operations.ts'
import { DAY_MS, MINUTE_MS } from '../../domain/instant.ts'
import { type IncidentKind, SILENT_MS, STATUS_DAYS } from '../../domain/status.ts'
import type { StatusView } from '../../domain/views.ts'
import { newId } from '../crypto/id.ts'
import { HAS_OWN_IMAGE } from '../fleet/jobs/images.ts'
import { isFreeFor } from '../fleet/line/turns.ts'
import type { Context } from '../runtime/context.ts'

/** If a cause returns within this time, its incident continues. */
const SAME_MS = 5 * MINUTE_MS
/** Starts that ended this long ago say nothing about now. */
const RECENT_MS = 30 * MINUTE_MS
/** This many starts in a row, of at least two people: one person could make their own fail. With parameters, everyone can. */
const IN_A_ROW = 3
const PEOPLE = 2
const MOST_SHOWN = 2_000

type EndedStart = { user_id: string; status: string; error_code: string | null }

/**
 * Records whether people can start servers: an incident begins, continues, or ends. Run by cron each minute. If it
 * hasn't run for a while, that's an incident as well.
 */
export async function checkStarts(ctx: Context): Promise<void> {
  const now = ctx.now()
  const [[fleet], ended, [check]] = await ctx.db.batch([
    ctx.db.all<{ free: number }>(sql`SELECT EXISTS (SELECT 1 FROM servers WHERE ${isFreeFor(null, now)}) AS free`),
    ctx.db.all<EndedStart>(sql`SELECT user_id, status, error_code FROM jobs
      WHERE run_at IS NULL AND updated_at > ${now - RECENT_MS} AND kind = 'server_start'
      AND coalesce(error_code, '') NOT IN ('stopped', 'no_capacity', 'suspended', 'stopped_by_us')
      AND NOT EXISTS (SELECT 1 FROM server_sessions WHERE id = session_id AND (${HAS_OWN_IMAGE} OR parameters IS NOT NULL))
      ORDER BY updated_at DESC LIMIT ${IN_A_ROW}`),
    ctx.db.select().from(statusChecks),
  ])
  const lasting: IncidentKind[] = []
  if (!fleet?.free) lasting.push('full')
  if (doStartsFail(ended)) lasting.push('failing')
  const silentSince = check && now - check.lastAt > SILENT_MS ? check.lastAt : null
  await writeBatch(ctx.db, [
    ctx.db
      .insert(statusChecks)
      .values({ id: 'starts', firstAt: now, lastAt: now })
      .onConflictDoUpdate({ target: statusChecks.id, set: { lastAt: sql`max(last_at, ${now})` } }),
    ...(silentSince === null ? [] : [downQuery(ctx, silentSince, now)]),
    ...lasting.flatMap((kind) => beginQueries(ctx, kind, now)),
    ctx.db
      .update(incidents)
      .set({ endedAt: now })
      .where(and(isNull(incidents.endedAt), notInArray(incidents.kind, lasting))),
  ])
}

/** One refusal is enough if it concerns the whole account. None of these starts failed by its user's doing. */
function doStartsFail(ended: EndedStart[]): boolean {
  if (ended[0]?.error_code === 'launch_refused') return true
  return (
    ended.length === IN_A_ROW &&
    ended.every(({ error_code }) => error_code !== null) &&
    new Set(ended.map((e) => e.user_id)).size >= PEOPLE
  )
}

/** Reopens an incident that just ended, or begins one, unless one is open. */
function beginQueries(ctx: Context, kind: IncidentKind, now: number): Query[] {
  const open = sql`SELECT 1 FROM incidents WHERE kind = ${kind} AND ended_at IS NULL`
  return [
    ctx.db.run(sql`UPDATE incidents SET ended_at = NULL WHERE id = (SELECT id FROM incidents WHERE kind = ${kind}
      AND ended_at > ${now - SAME_MS} ORDER BY ended_at DESC LIMIT 1) AND NOT EXISTS (${open})`),
    ctx.db.run(sql`INSERT INTO incidents (id, kind, started_at) SELECT ${newId('inc')}, ${kind}, ${now}
      WHERE NOT EXISTS (${open})`),
  ]
}

/** Records each silence once, however many triggers find it. */
function downQuery(ctx: Context, since: number, now: number): Query {
  return ctx.db.run(sql`INSERT INTO incidents (id, kind, started_at, ended_at)
    SELECT ${newId('inc')}, 'down', ${since}, ${now}
    WHERE NOT EXISTS (SELECT 1 FROM incidents WHERE kind = 'down' AND ended_at > ${since})`)
}

/** What the public status page shows. */
export async function readStatus(ctx: Pick<Context, 'db' | 'now'>): Promise<StatusView> {
  const [[check], rows] = await ctx.db.batch([
    ctx.db.select().from(statusChecks),
    ctx.db
      .select({ kind: incidents.kind, startedAt: incidents.startedAt, endedAt: incidents.endedAt })
      .from(incidents)
      .where(or(isNull(incidents.endedAt), gt(incidents.endedAt, ctx.now() - STATUS_DAYS * DAY_MS)))
      .orderBy(desc(incidents.startedAt))
      .limit(MOST_SHOWN),
  ])
  return { firstAt: check?.firstAt ?? null, lastAt: check?.lastAt ?? null, incidents: rows }
}
