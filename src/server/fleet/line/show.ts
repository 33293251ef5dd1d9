import { and, eq, isNull, type SQL } from 'drizzle-orm'
import { type LineRow, line } from '../../../../db/schema/line.ts'
import { toIso } from '../../../domain/instant.ts'
import type { LinePlace } from '../../../domain/wire/fleet.ts'
import type { Context } from '../../runtime/context.ts'

/** Their place in line; none once they have a server. */
export function lineQuery(ctx: Pick<Context, 'db'>, userId: string | SQL) {
  return ctx.db
    .select()
    .from(line)
    .where(and(eq(line.userId, userId), isNull(line.runId)))
}

export function toLinePlace(row: LineRow | undefined): LinePlace | null {
  if (!row) return null
  const { p50, p90 } = row
  return {
    size: row.gpus,
    position: row.givenAt === null ? (row.position ?? 1) : 0,
    estimate_seconds: row.givenAt !== null || p50 === null || p90 === null ? null : { p50, p90 },
    held_until: toIso(row.heldUntil),
    starts_by_itself: row.start,
  }
}

export async function findLinePlace(ctx: Pick<Context, 'db'>, userId: string): Promise<LinePlace | null> {
  const [row] = await lineQuery(ctx, userId)
  return toLinePlace(row)
}

/** Shows their open pages where they are now. */
export async function tellLine(ctx: Context, userId: string): Promise<void> {
  await ctx.channel(userId).tellLine(await findLinePlace(ctx, userId))
}
