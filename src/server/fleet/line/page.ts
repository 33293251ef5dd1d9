import { and, eq, gt, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import type { BatchResponse } from 'drizzle-orm/batch'
import { users } from '../../../../db/schema/accounts.ts'
import { places, runs } from '../../../../db/schema/fleet.ts'
import { lineGroupPeople, lineGroups } from '../../../../db/schema/line.ts'
import { toIso } from '../../../domain/instant.ts'
import type { RunWishes } from '../../../domain/run-wishes.ts'
import type { LinePlace } from '../../../domain/wire/fleet.ts'
import { toAllowance } from '../../billing/allowance.ts'
import { countUsage, usageQueries } from '../../billing/bills/usage.ts'
import type { Context } from '../../runtime/context.ts'
import { stopAfterQuery, toStopAfter } from '../stop-after.ts'
import { lineQuery, toLinePlace } from './show.ts'
import { IS_WAITING, isFreeFor } from './turns.ts'

/** A size that their plan allows: how many are waiting for it, and whether a start would get one now. */
type LineSize = { gpus: number; waiting: number; free: boolean }

export type LinePageData = {
  line: LinePlace | null
  /** What the start sets when it's their turn. */
  wishes: RunWishes | null
  /** After how many seconds it would end a server, as they last chose; null: never. */
  stopAfter: number | null
  /** The largest first. */
  sizes: LineSize[]
  hasServer: boolean
  isTrial: boolean
  /** Groups of theirs that haven't ended. */
  groups: { name: string; gpus: number; places: number; from: string; until: string; isOn: boolean }[]
  /** Whether a code would do something. */
  takesCode: boolean
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
        free: sql<0 | 1>`max(${isFreeFor(userId, ctx.now())})`,
      })
      .from(places)
      .where(isNull(places.retiredAt))
      .groupBy(places.gpus)
      .orderBy(sql`gpus DESC`),
    ctx.db
      .select({ id: runs.id })
      .from(runs)
      .where(and(eq(runs.userId, userId), isNull(runs.endedAt))),
    ctx.db
      .select({ row: lineGroups })
      .from(lineGroups)
      .innerJoin(lineGroupPeople, eq(lineGroupPeople.groupId, lineGroups.id))
      .innerJoin(users, eq(users.email, lineGroupPeople.email))
      .where(and(eq(users.id, userId), gt(lineGroups.endsAt, ctx.now())))
      .orderBy(lineGroups.startsAt),
    ctx.db
      .select({ id: lineGroups.id })
      .from(lineGroups)
      .where(and(isNotNull(lineGroups.code), gt(lineGroups.endsAt, ctx.now())))
      .limit(1),
    stopAfterQuery(ctx, userId),
    ...usageQueries(ctx, userId),
  ] as const
}

export function toLinePage(
  [[row], sizes, live, groups, codes, choices, history, runRows]: BatchResponse<ReturnType<typeof linePageQueries>>,
  now: number,
): LinePageData {
  const { gpus, trialSeconds } = toAllowance(countUsage(history, runRows, now))
  return {
    line: toLinePlace(row),
    wishes: row?.wishes ?? null,
    stopAfter: toStopAfter(choices),
    sizes: sizes
      .filter((size) => size.gpus <= gpus)
      .map((size) => ({ ...size, free: size.free === 1 && size.waiting === 0 })),
    hasServer: live.length > 0,
    isTrial: trialSeconds !== null,
    groups: groups.map(({ row: { name, gpus: size, places, startsAt, endsAt } }) => ({
      name,
      gpus: size,
      places,
      from: toIso(startsAt),
      until: toIso(endsAt),
      isOn: startsAt <= now,
    })),
    takesCode: codes.length > 0,
  }
}
