import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../db/client.ts'
import { type PlaceRow, places } from '../../../db/schema/fleet.ts'
import { type WarmMachineRow, warmMachines } from '../../../db/schema/warm.ts'
import type { Act } from '../../domain/audit.ts'
import { AppError } from '../../domain/error.ts'
import { MINUTE_MS, toIso } from '../../domain/instant.ts'
import { MAX_GPUS } from '../../domain/run-wishes.ts'
import type { PlaceLine } from '../../domain/views.ts'
import { newId } from '../crypto/id.ts'
import { auditQuery, type Hand } from '../runtime/audit.ts'
import type { Context } from '../runtime/context.ts'

/** How long we set a place aside after its zone or subnet refused a launch. */
const SET_ASIDE_MS = 10 * MINUTE_MS
const MOST_AT_ONCE = 500

/**
 * Whether we may hand out a row of `servers`: it isn't retired, or set aside because its zone or subnet
 * refused a launch. Doesn't check whether it is reserved.
 */
export function isOfferedAt(now: number): SQL {
  return sql`(retired_at IS NULL AND set_aside_until <= ${now})`
}

/**
 * Whether nobody has reserved a row of `servers`. Without the plus, SQLite would search the index of `reserved_by`, in
 * which all free places are equal, and sort them. `servers_free` has them in order.
 */
export const IS_FREE = sql`+reserved_by IS NULL`

/** The `set_aside_until` of a place that an operator drained, until they resume it. */
const DRAINED = Number.MAX_SAFE_INTEGER

/** EC2 refused a launch there, so nobody else is sent there for a while. A drained place stays drained. */
export function setAsideQuery(ctx: Pick<Context, 'db' | 'now'>, isIt: SQL): Query {
  return ctx.db.run(
    sql`UPDATE servers SET set_aside_until = max(set_aside_until, ${ctx.now() + SET_ASIDE_MS}) WHERE ${isIt}`,
  )
}

export type NewPlaces = {
  instanceType: string
  availabilityZone: string
  /** Absent or null: the zone's own, or EC2_LAUNCH_TEMPLATE. */
  launchTemplate?: string | null
  gpus: number
  count: number
}

/** Whether the names could be EC2's. @throws invalid */
export function checkPlace({ instanceType, availabilityZone, launchTemplate }: Omit<NewPlaces, 'gpus' | 'count'>) {
  if (!/^[a-z][a-z0-9-]*\.[a-z0-9-]+$/.test(instanceType))
    throw new AppError('invalid', 'The type must be an EC2 instance type, such as g6.4xlarge.', {
      field: 'type',
    })
  if (!/^[a-z]{2}(-[a-z]+)+-\d[a-z]$/.test(availabilityZone))
    throw new AppError('invalid', 'The zone must be an availability zone, such as us-east-1a.', {
      field: 'zone',
    })
  if (typeof launchTemplate === 'string' && !/^[\w().\-/]{3,128}$/.test(launchTemplate))
    throw new AppError(
      'invalid',
      'The template must be the name of a launch template, such as proving-ground-us-east-1a.',
      { field: 'template' },
    )
}

/** @throws invalid */
export function checkPlaces({ gpus, count, ...place }: NewPlaces): void {
  checkPlace(place)
  if (!Number.isInteger(gpus) || gpus < 1 || gpus > MAX_GPUS)
    throw new AppError('invalid', `The GPUs must be the number of NVIDIA L4s in that type, from 1 to ${MAX_GPUS}.`, {
      field: 'gpus',
    })
  if (!Number.isInteger(count) || count < 1 || count > MOST_AT_ONCE)
    throw new AppError('invalid', `The count must be a whole number from 1 to ${MOST_AT_ONCE}.`, { field: 'count' })
}

/** Adds places, handed out after the existing ones of their size. @throws invalid */
export async function addPlaces(hand: Hand, placeRows: NewPlaces): Promise<string[]> {
  const { db } = hand
  const { instanceType, availabilityZone, launchTemplate, gpus, count } = placeRows
  checkPlaces(placeRows)
  const ids = Array.from({ length: count }, () => newId('srv'))
  const detail = { instanceType, availabilityZone, launchTemplate, gpus, count }
  await writeBatch(db, [
    db.insert(places).values(
      ids.map((id, i) => ({
        id,
        instanceType,
        availabilityZone,
        launchTemplate,
        gpus,
        position: sql`(SELECT coalesce(max(position), 0) FROM servers) + ${i + 1}`,
      })),
    ),
    auditQuery(hand, { act: 'add_places', subject: ids[0] ?? '', detail }),
  ])
  return ids
}

/**
 * Never hands out the place again. A server in it keeps running, and the row stays because past runs refer to
 * it.
 * @returns the place; if it was already retired, with its original time
 * @throws not_found
 */
export async function retirePlace(hand: Hand, id: string): Promise<PlaceRow> {
  return changePlace(hand, id, {
    act: 'retire_place',
    set: sql`retired_at = ${hand.now()}`,
    when: sql`retired_at IS NULL`,
  })
}

/** Stops handing out the place until it is resumed. A server in it keeps running. @throws not_found */
export async function drainPlace(hand: Hand, id: string): Promise<PlaceRow> {
  const when = sql`retired_at IS NULL AND set_aside_until < ${DRAINED}`
  return changePlace(hand, id, { act: 'drain_place', set: sql`set_aside_until = ${DRAINED}`, when })
}

/** Hands it out again, even if a refusal had set it aside. @throws not_found */
export async function resumePlace(hand: Hand, id: string): Promise<PlaceRow> {
  const when = sql`retired_at IS NULL AND set_aside_until > ${hand.now()}`
  return changePlace(hand, id, { act: 'resume_place', set: sql`set_aside_until = 0`, when })
}

/** Does and records nothing if the place is already in that state. */
async function changePlace(
  hand: Hand,
  id: string,
  { act, set, when }: { act: Act; set: SQL; when: SQL },
): Promise<PlaceRow> {
  const due = sql`id = ${id} AND ${when}`
  await writeBatch(hand.db, [
    auditQuery(hand, { act, subject: id }, sql`EXISTS (SELECT 1 FROM servers WHERE ${due})`),
    hand.db.run(sql`UPDATE servers SET ${set} WHERE ${due}`),
  ])
  const [place] = await hand.db.select().from(places).where(eq(places.id, id))
  if (!place)
    throw new AppError('not_found', `Unknown place ${id}. List the places to see their IDs.`, {
      field: 'place',
    })
  return place
}

/** All places, including retired ones, by size and position. */
export async function listPlaces({ db, now }: Pick<Hand, 'db' | 'now'>): Promise<PlaceLine[]> {
  const rows = await db
    .select({ place: places, warm: warmMachines })
    .from(places)
    .leftJoin(warmMachines, and(eq(warmMachines.placeId, places.id), isNull(warmMachines.endedAt)))
    .orderBy(asc(places.gpus), asc(places.position))
  return rows.map(({ place, warm }) => ({
    id: place.id,
    type: place.instanceType,
    zone: place.availabilityZone,
    template: place.launchTemplate,
    gpus: place.gpus,
    ...stateOf(place, warm, now()),
  }))
}

function stateOf(place: PlaceRow, warm: WarmMachineRow | null, now: number): Pick<PlaceLine, 'state' | 'since'> {
  const { retiredAt, reservedBy, reservedAt, setAsideUntil } = place
  if (retiredAt !== null) return { state: reservedBy ? 'retired, in use' : 'retired', since: toIso(retiredAt) }
  if (setAsideUntil === DRAINED) return { state: reservedBy ? 'drained, in use' : 'drained', since: toIso(reservedAt) }
  if (reservedBy) return { state: reservedBy === warm?.token ? 'ending' : 'reserved', since: toIso(reservedAt) }
  if (setAsideUntil > now) return { state: 'set aside', since: toIso(setAsideUntil - SET_ASIDE_MS) }
  if (warm?.readyAt) return { state: 'free, warm', since: toIso(warm.readyAt) }
  return warm ? { state: 'free, warming', since: toIso(warm.createdAt) } : { state: 'free', since: null }
}
