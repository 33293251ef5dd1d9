import { and, desc, eq, gt, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { runs } from '../../../../db/schema/fleet.ts'
import { warmSettings } from '../../../../db/schema/warm.ts'
import { AppError } from '../../../domain/error.ts'
import { DAY_MS } from '../../../domain/instant.ts'
import type { WarmLine } from '../../../domain/views.ts'
import {
  checkCount,
  checkTimeZone,
  costOf,
  hoursText,
  parseHours,
  suggestHours,
  WEEK_HOURS,
  wantedAt,
} from '../../../domain/warm-hours.ts'
import { auditQuery, type Hand } from '../../runtime/audit.ts'
import { checkPlace } from '../places.ts'

/** How far back a suggestion looks. */
const WEEKS = 4
const MOST_STARTS = 20_000

export type NewWarm = {
  instanceType: string
  availabilityZone: string
  /** Which hours to set: the others stay. */
  hours: string
  count: number
  /** Null or absent: as before, or UTC. */
  timeZone?: string | null
  /** What one costs an hour, in US dollars. Null or absent: as before. */
  hourDollars?: number | null
}

/** @throws invalid */
export function checkWarm(wanted: NewWarm): void {
  checkPlace(wanted)
  parseHours(wanted.hours)
  checkCount(wanted.count)
  if (typeof wanted.timeZone === 'string') checkTimeZone(wanted.timeZone)
  const price = wanted.hourDollars ?? null
  if (price !== null && !(price > 0 && price < 1_000))
    throw new AppError('invalid', 'The price must be in dollars an hour, such as 1.40.', { field: 'price' })
}

/** Sets how many machines of a type wait in a zone, in some hours of the week. @throws invalid */
export async function setWarm(hand: Hand, wanted: NewWarm): Promise<void> {
  const { instanceType, availabilityZone, count } = wanted
  checkWarm(wanted)
  const some = parseHours(wanted.hours)
  const hourDollars = wanted.hourDollars ?? null
  const isIt = and(eq(warmSettings.instanceType, instanceType), eq(warmSettings.availabilityZone, availabilityZone))
  const [before] = await hand.db.select().from(warmSettings).where(isIt)
  const timeZone = wanted.timeZone ?? before?.timeZone ?? 'UTC'
  const hours = before?.hours.slice() ?? Array<number>(WEEK_HOURS).fill(0)
  for (const hour of some) hours[hour] = count
  const setting = { hours, timeZone, hourCents: hourDollars === null ? (before?.hourCents ?? null) : hourDollars * 100 }
  const isNone = hours.every((one) => one === 0)
  await writeBatch(hand.db, [
    isNone
      ? hand.db.delete(warmSettings).where(isIt)
      : hand.db
          .insert(warmSettings)
          .values({ instanceType, availabilityZone, ...setting })
          .onConflictDoUpdate({ target: [warmSettings.instanceType, warmSettings.availabilityZone], set: setting }),
    auditQuery(hand, {
      act: 'keep_warm',
      subject: `${instanceType} ${availabilityZone}`,
      detail: { kept: hoursText(hours) || 'never', timeZone },
    }),
  ])
}

/** What operators have set, what it costs, and what past starts suggest, for each kind that has places. */
export async function listWarm({ db, now }: Pick<Hand, 'db' | 'now'>): Promise<WarmLine[]> {
  const at = now()
  const [kinds, settings, machines, starts] = await db.batch([
    db.all<{
      type: string
      zone: string
    }>(sql`SELECT DISTINCT instance_type AS type, availability_zone AS zone FROM servers
      WHERE retired_at IS NULL ORDER BY 1, 2`),
    db.select().from(warmSettings),
    db.all<{ type: string; zone: string; ready: number; count: number }>(sql`SELECT instance_type AS type,
      availability_zone AS zone, sum(ready_at IS NOT NULL AND ending_at IS NULL) AS ready, count(*) AS count
      FROM warm_machines JOIN servers ON servers.id = server_id WHERE ended_at IS NULL GROUP BY 1, 2`),
    db
      .select({ type: runs.instanceType, zone: runs.availabilityZone, at: runs.requestedAt })
      .from(runs)
      .where(gt(runs.requestedAt, at - WEEKS * 7 * DAY_MS))
      .orderBy(desc(runs.requestedAt))
      .limit(MOST_STARTS),
  ])
  const all = [...kinds, ...settings.map((one) => ({ type: one.instanceType, zone: one.availabilityZone }))]
  const unique = [...new Map(all.map((kind) => [`${kind.type} ${kind.zone}`, kind])).values()]
  return unique.map(({ type, zone }) => {
    const setting = settings.find((one) => one.instanceType === type && one.availabilityZone === zone)
    const kept = machines.find((one) => one.type === type && one.zone === zone)
    const timeZone = setting?.timeZone ?? 'UTC'
    const ofKind = starts.filter((start) => start.type === type && start.zone === zone).map((start) => start.at)
    const hourCents = setting?.hourCents ?? null
    return {
      type,
      zone,
      time_zone: timeZone,
      hours: setting ? hoursText(setting.hours) : '',
      wanted: setting ? wantedAt(setting, at) : 0,
      ready: kept?.ready ?? 0,
      others: (kept?.count ?? 0) - (kept?.ready ?? 0),
      hour_dollars: hourCents === null ? null : hourCents / 100,
      week: setting ? costOf(setting.hours, hourCents) : null,
      suggested: hoursText(suggestHours(ofKind, timeZone, WEEKS)),
    }
  })
}
