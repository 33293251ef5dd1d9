import { and, asc, eq, gt, isNull, or } from 'drizzle-orm'
import { users } from '../../../db/schema/accounts.ts'
import { line, lineWaits } from '../../../db/schema/line.ts'
import { incidents } from '../../../db/schema/operations.ts'
import { DAY_MS, toIso } from '../../domain/instant.ts'
import { hourLabel, shortMinutes } from '../../domain/line-week.ts'
import type { InLine, Waited } from '../../domain/views.ts'
import type { Context } from '../runtime/context.ts'

const WEEKS_MS = 28 * DAY_MS
const WAITS_MS = 30 * DAY_MS
const MOST_SHOWN = 200

export type Lines = { people: InLine[]; waited: Waited[]; short: { label: string; value: number }[] }

/** Who is waiting, how long people waited, and when capacity was short: someone waited, or no place of any size was free. */
export async function readLines(ctx: Pick<Context, 'db' | 'now'>): Promise<Lines> {
  const now = ctx.now()
  const [rows, waits, full] = await ctx.db.batch([
    ctx.db
      .select({ row: line, email: users.email })
      .from(line)
      .innerJoin(users, eq(users.id, line.userId))
      .orderBy(asc(line.gpus), asc(line.position))
      .limit(MOST_SHOWN),
    ctx.db
      .select()
      .from(lineWaits)
      .where(gt(lineWaits.joinedAt, now - WAITS_MS)),
    ctx.db
      .select({ from: incidents.startedAt, until: incidents.endedAt })
      .from(incidents)
      .where(and(eq(incidents.kind, 'full'), or(isNull(incidents.endedAt), gt(incidents.endedAt, now - WEEKS_MS)))),
  ])
  const spans = [
    ...full.map(({ from, until }) => ({ from, until: until ?? now })),
    ...waits.map(({ joinedAt, waitedMs }) => ({ from: joinedAt, until: joinedAt + waitedMs })),
    ...rows.flatMap(({ row }) => (row.givenAt === null ? { from: row.joinedAt, until: now } : [])),
  ]
  return {
    people: rows.map(({ row, email }) => ({
      userId: row.userId,
      email,
      size: row.gpus,
      trial: row.trial,
      position: row.position,
      joinedAt: toIso(row.joinedAt),
      state: row.runId ? 'starting' : row.givenAt === null ? 'waiting' : 'held',
    })),
    waited: summarize(waits),
    short: shortMinutes(spans, now - WEEKS_MS, now).map((value, hour) => ({ label: hourLabel(hour), value })),
  }
}

function summarize(waits: (typeof lineWaits.$inferSelect)[]): Waited[] {
  const kinds = new Map(waits.map(({ gpus, trial }) => [`${gpus} ${trial}`, { size: gpus, trial }]))
  return [...kinds.values()]
    .sort((a, b) => a.size - b.size || Number(a.trial) - Number(b.trial))
    .map(({ size, trial }) => {
      const own = waits.filter((wait) => wait.gpus === size && wait.trial === trial)
      const served = own.filter((wait) => wait.served).map(({ waitedMs }) => Math.round(waitedMs / 1000))
      served.sort((a, b) => a - b)
      return {
        size,
        trial,
        served: served.length,
        left: own.length - served.length,
        median: served[Math.floor(served.length / 2)] ?? null,
        longest: served.at(-1) ?? null,
      }
    })
}
