import { and, inArray, isNotNull, or, type SQL } from 'drizzle-orm'
import { startTimes } from '../../../db/schema/fleet.ts'
import type { StartTimes } from '../../domain/start-time.ts'
import type { Context } from '../runtime/context.ts'

/** What we know about how long starts take: for the catalog and the user's own images, never for anyone else's. */
export function startTimesQuery(ctx: Pick<Context, 'db'>, userId: string | SQL) {
  return ctx.db
    .select()
    .from(startTimes)
    .where(
      and(
        inArray(startTimes.owner, ['', userId as string]),
        or(isNotNull(startTimes.p50), isNotNull(startTimes.warmP50)),
      ),
    )
}

/** @param untilExit runs that end with their program are ready once it starts; the others, once they answer */
export function toStartTimes(rows: (typeof startTimes.$inferSelect)[], untilExit = false): StartTimes {
  const times: StartTimes = {}
  for (const { environment, instanceType, p50, p90, warmP50, warmP90, ...row } of rows)
    if (row.untilExit === untilExit) {
      times[environment] ??= {}
      times[environment][instanceType] = {
        ...(p50 !== null && p90 !== null && { cold: { p50, p90 } }),
        ...(warmP50 !== null && warmP90 !== null && { warm: { p50: warmP50, p90: warmP90 } }),
      }
    }
  return times
}
