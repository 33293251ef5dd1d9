import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import { type LineRow, line, lineTurns, lineWaits } from '../../../../db/schema/line.ts'
import { ESTIMATE_MS, type Estimate, estimateInLine, type LineWait } from '../../../domain/estimate.ts'
import { positionsOf } from '../../../domain/line.ts'
import type { Context } from '../../runtime/context.ts'
import { fourAtOnce } from '../../runtime/four-at-once.ts'
import { toLinePlace } from './show.ts'

/** The others hear at the next look, and read it whenever they load a page. */
const TOLD_AT_ONCE = 200
/** Per size and class, the latest. */
const MOST_WAITS = 2_000

/**
 * Writes down everyone's position in line and how long they will wait, and tells those for whom that changed.
 * @param userId only this person: the others hear at the next look
 */
export async function countLine(ctx: Context, userId?: string): Promise<void> {
  const [rows, turns] = await ctx.db.batch([
    ctx.db.select().from(line).where(isNull(line.runId)),
    ctx.db.select().from(lineTurns),
  ])
  const waiting = rows.filter(({ givenAt }) => givenAt === null)
  const positions = new Map<string, number>()
  for (const gpus of new Set(waiting.map((row) => row.gpus))) {
    const ofSize = waiting.filter((row) => row.gpus === gpus).map((row) => ({ ...row, id: row.userId }))
    const paid = turns.find((turn) => turn.gpus === gpus)?.paid ?? 0
    for (const [id, position] of positionsOf(ofSize, paid)) positions.set(id, position)
  }
  const moved = rows.filter(
    (row) => row.position !== (positions.get(row.userId) ?? 0) && (userId === undefined || row.userId === userId),
  )
  if (!moved.length) return
  const estimates = await estimatesFor(ctx, moved)
  const now = moved.map((row) => {
    const position = positions.get(row.userId) ?? 0
    const estimate = position ? estimates(row, position) : null
    return { id: row.userId, position, p50: estimate?.p50 ?? null, p90: estimate?.p90 ?? null }
  })
  await ctx.db.run(sql`UPDATE line SET position = value ->> 'position', p50 = value ->> 'p50', p90 = value ->> 'p90',
      joined_position = coalesce(joined_position, value ->> 'position')
    FROM json_each(${JSON.stringify(now)}) WHERE line.user_id = value ->> 'id'`)
  const told = now.slice(0, TOLD_AT_ONCE).map(({ id, ...row }) => {
    const before = moved.find(({ userId }) => userId === id) as LineRow
    return { id, place: toLinePlace({ ...before, ...row }) }
  })
  ctx.background(fourAtOnce(told, ({ id, place }) => ctx.channel(id).tellLine(place)))
}

async function estimatesFor(ctx: Context, rows: LineRow[]) {
  const known = new Map<string, LineWait[]>()
  for (const { gpus, trial } of rows) {
    const kind = `${gpus} ${trial}`
    if (!known.has(kind)) known.set(kind, await waitsQuery(ctx, gpus, trial))
  }
  return ({ gpus, trial }: LineRow, position: number): Estimate | null =>
    estimateInLine(known.get(`${gpus} ${trial}`) ?? [], position)
}

function waitsQuery(ctx: Context, gpus: number, trial: boolean) {
  return ctx.db
    .select({ position: lineWaits.position, waitedMs: lineWaits.waitedMs, served: lineWaits.served })
    .from(lineWaits)
    .where(and(eq(lineWaits.gpus, gpus), eq(lineWaits.trial, trial), gt(lineWaits.joinedAt, ctx.now() - ESTIMATE_MS)))
    .orderBy(sql`joined_at DESC`)
    .limit(MOST_WAITS)
}
