import { and, asc, desc, eq, type SQL, sql } from 'drizzle-orm'
import { readInPieces } from '../../../db/client.ts'
import { type RunRow, runs } from '../../../db/schema/fleet.ts'
import { monthPeriod } from '../../domain/instant.ts'
import type { RunFilter } from '../../domain/run-list.ts'
import type { ServerStatus } from '../../domain/server.ts'
import type { RunListView } from '../../domain/views.ts'
import type { Server } from '../../domain/wire/fleet.ts'
import { limitPerson } from '../limits/limits.ts'
import { contains } from '../runtime/contains.ts'
import type { Context } from '../runtime/context.ts'
import { toServer } from './wire.ts'

const PAGE = 50
const LATEST = 100
const NO_FILTER: RunFilter = { q: '', month: null, status: null }

/** `serverStatus` in SQL. */
const HAS_STATUS: Record<ServerStatus, SQL> = {
  running: sql`ended_at IS NULL AND stop_requested_at IS NULL AND running_at IS NOT NULL`,
  provisioning: sql`ended_at IS NULL AND stop_requested_at IS NULL AND running_at IS NULL`,
  stopping: sql`ended_at IS NULL AND stop_requested_at IS NOT NULL`,
  stopped: sql`ended_at IS NOT NULL AND error_message IS NULL`,
  error: sql`ended_at IS NOT NULL AND error_message IS NOT NULL`,
}

/** The user's latest runs, newest first. */
export function runsQuery(ctx: Context, userId: string | SQL) {
  return ctx.db.select().from(runs).where(eq(runs.userId, userId)).orderBy(desc(runs.requestedAt)).limit(LATEST)
}

function matching(userId: string, { q, month, status }: RunFilter) {
  const from = month === null ? null : monthPeriod(month)
  return and(
    eq(runs.userId, userId),
    q
      ? contains(
          sql`id || ' ' || coalesce(name, '') || ' ' || instance_type || ' ' ||
      coalesce(availability_zone, '') || ' ' || coalesce(environment, '') || ' ' || coalesce(vehicle, '') || ' ' ||
      replace(coalesce(parameters, ''), '":"', '=')`,
          q,
        )
      : undefined,
    from ? sql`requested_at >= ${from.start} AND requested_at < ${from.end}` : undefined,
    status ? HAS_STATUS[status] : undefined,
  )
}

/** The user's runs, newest first, 50 a page. @throws too_many */
export async function listRunPage(ctx: Context, userId: string, filter: RunFilter, page: number): Promise<RunListView> {
  await limitPerson(ctx, 'find_runs', userId)
  const [rows, [count], months] = await ctx.db.batch([
    ctx.db
      .select()
      .from(runs)
      .where(matching(userId, filter))
      .orderBy(desc(runs.requestedAt), desc(runs.id))
      .limit(PAGE)
      .offset((page - 1) * PAGE),
    ctx.db.select({ runs: sql<number>`count(*)` }).from(runs).where(matching(userId, filter)),
    ctx.db
      .select({ month: sql<string>`strftime('%Y-%m', requested_at / 1000, 'unixepoch')` })
      .from(runs)
      .where(eq(runs.userId, userId))
      .groupBy(sql`1`)
      .orderBy(sql`1 DESC`),
  ])
  const total = count?.runs ?? 0
  const pages = Math.max(1, Math.ceil(total / PAGE))
  return {
    servers: rows.map((row) => toServer(row, ctx.config)),
    page,
    pages,
    total,
    months: months.map(({ month }) => month),
  }
}

/** All of them, for a file, a piece at a time. */
export async function* listAllRuns(
  ctx: Context,
  userId: string,
  { filter = NO_FILTER, oldestFirst = false } = {},
): AsyncGenerator<Server[]> {
  const [order, isAfter] = oldestFirst ? [asc, sql`>`] : [desc, sql`<`]
  const pieces = readInPieces<RunRow>((last, limit) =>
    ctx.db
      .select()
      .from(runs)
      .where(
        and(matching(userId, filter), last && sql`(requested_at, id) ${isAfter} (${last.requestedAt}, ${last.id})`),
      )
      .orderBy(order(runs.requestedAt), order(runs.id))
      .limit(limit),
  )
  for await (const rows of pieces) yield rows.map((row) => toServer(row, ctx.config))
}

/** The same for a file that its owner downloads. @throws too_many */
export async function readRunsForFile(
  ctx: Context,
  userId: string,
  filter: RunFilter,
): Promise<AsyncGenerator<Server[]>> {
  await limitPerson(ctx, 'runs_file', userId)
  return listAllRuns(ctx, userId, { filter })
}
