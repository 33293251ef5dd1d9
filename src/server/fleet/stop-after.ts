import { and, desc, eq, gte, isNotNull, isNull, or, type SQL } from 'drizzle-orm'
import { type RunRow, runs } from '../../../db/schema/fleet.ts'
import { FIRST_STOP_AFTER } from '../../domain/ending.ts'
import { firstPaidAt } from '../billing/bills/usage.ts'
import type { Context } from '../runtime/context.ts'

type Choice = Pick<RunRow, 'stopAfter'>

/**
 * The end that they last chose on the site. A trial's form doesn't ask, a run that ends with its program needs no end,
 * and a start that failed or was canceled isn't a choice.
 */
export function stopAfterQuery(ctx: Context, userId: string | SQL) {
  return ctx.db
    .select({ stopAfter: runs.stopAfter })
    .from(runs)
    .where(
      and(
        eq(runs.userId, userId),
        eq(runs.byToken, false),
        eq(runs.inTrial, false),
        // Rows from before `inTrial` don't have it.
        gte(runs.requestedAt, firstPaidAt(userId)),
        eq(runs.untilExit, false),
        or(isNotNull(runs.billedFrom), isNull(runs.endedAt)),
      ),
    )
    .orderBy(desc(runs.requestedAt))
    .limit(1)
}

/** In seconds; null: until they stop it. */
export const toStopAfter = ([last]: Choice[]): number | null => (last ? last.stopAfter : FIRST_STOP_AFTER)
