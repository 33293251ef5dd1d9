import type { SQL } from 'drizzle-orm'
import { and, eq, isNull, sql } from 'drizzle-orm'
import type { BatchResponse } from 'drizzle-orm/batch'
import { places, runs } from '../../../../db/schema.ts'
import type { RunWishes } from '../../../domain/run-wishes.ts'
import type { LinePlace } from '../../../domain/wire.ts'
import { toAllowance } from '../../billing/allowance.ts'
import { countUsage, usageQueries } from '../../billing/bills/usage.ts'
import type { Context } from '../../context.ts'
import { IS_FREE, isOfferedAt } from '../places.ts'
import { lineQuery, toLinePlace } from './show.ts'
import { IS_WAITING } from './turns.ts'

/** A size that their plan allows: how many wait for it, and whether a start would get one now. */
type LineSize = { gpus: number; waiting: number; free: boolean }

export type LinePageData = {
  line: LinePlace | null
  /** What the start sets when it's their turn. */
  wishes: RunWishes | null
  /** The largest first. */
  sizes: LineSize[]
  hasServer: boolean
}

/** The reads for the page about the line. */
export function linePageQueries(ctx: Context, userId: string | SQL) {
  const waiting = sql<number>`(SELECT count(*) FROM line WHERE line.gpus = servers.gpus AND ${IS_WAITING})`
  return [
    lineQuery(ctx, userId),
    ctx.db
      .select({
        gpus: places.gpus,
        waiting,
        free: sql<0 | 1>`max(${IS_FREE} AND ${isOfferedAt(ctx.now())})`,
      })
      .from(places)
      .where(isNull(places.retiredAt))
      .groupBy(places.gpus)
      .orderBy(sql`gpus DESC`),
    ctx.db
      .select({ id: runs.id })
      .from(runs)
      .where(and(eq(runs.userId, userId), isNull(runs.endedAt))),
    ...usageQueries(ctx, userId),
  ] as const
}

export function toLinePage(
  [[row], sizes, live, history, runRows]: BatchResponse<ReturnType<typeof linePageQueries>>,
  now: number,
): LinePageData {
  const { gpus } = toAllowance(countUsage(history, runRows, now))
  return {
    line: toLinePlace(row),
    wishes: row?.wishes ?? null,
    sizes: sizes
      .filter((size) => size.gpus <= gpus)
      .map((size) => ({ ...size, free: size.free === 1 && size.waiting === 0 })),
    hasServer: live.length > 0,
  }
}
