import { and, asc, eq, gt, isNull, type SQL, sql } from 'drizzle-orm'
import { doorLinks, runs } from '../../../db/schema/fleet.ts'
import type { Context } from '../runtime/context.ts'

/** A link that still lets guests in. The other rows are tickets, which name a sign-in. */
export function isLiveGuest(now: number) {
  return and(isNull(doorLinks.signInId), isNull(doorLinks.revokedAt), gt(doorLinks.expiresAt, now))
}

/** The guests of the user's live run. */
export function guestsQuery(ctx: Context, userId: string | SQL) {
  return ctx.db
    .select({ runId: runs.id, expiresAt: doorLinks.expiresAt })
    .from(doorLinks)
    .innerJoin(runs, eq(runs.id, doorLinks.runId))
    .where(and(sql`${runs.userId} = ${userId}`, isNull(runs.endedAt), isLiveGuest(ctx.now())))
    .orderBy(asc(doorLinks.expiresAt))
}
