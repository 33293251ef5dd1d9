import { asc, eq, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../db/client.ts'
import { type PlaceRow, places } from '../../../db/schema.ts'
import { AppError } from '../../domain/error.ts'
import { MINUTE_MS, toIso } from '../../domain/instant.ts'
import { newId } from '../id.ts'

/** How long we set a place aside after its zone or subnet refused a launch. */
export const SET_ASIDE_MS = 10 * MINUTE_MS
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

/** For operators' manual commands: just a database and a clock. */
type Hand = { db: Database; now: () => number }

export type NewPlaces = {
  instanceType: string
  availabilityZone: string
  /** Absent or null: EC2_LAUNCH_TEMPLATE. */
  launchTemplate?: string | null
  gpus: number
  count: number
}

/** Adds places, handed out after the existing ones of their size. @throws invalid */
export async function addPlaces({ db }: Pick<Hand, 'db'>, placeRows: NewPlaces): Promise<string[]> {
  const { instanceType, availabilityZone, launchTemplate, gpus, count } = placeRows
  if (!/^[a-z][a-z0-9-]*\.[a-z0-9-]+$/.test(instanceType))
    throw new AppError('invalid', '--type must be an EC2 instance type, such as g6.4xlarge.')
  if (!/^[a-z]{2}(-[a-z]+)+-\d[a-z]$/.test(availabilityZone))
    throw new AppError('invalid', '--zone must be an availability zone, such as us-east-1a.')
  if (typeof launchTemplate === 'string' && !/^[\w().\-/]{3,128}$/.test(launchTemplate))
    throw new AppError(
      'invalid',
      '--template must be the name of a launch template, such as proving-ground-us-east-1a.',
    )
  if (!Number.isInteger(gpus) || gpus < 1)
    throw new AppError('invalid', '--gpus must be the number of NVIDIA L4 of that type, 1 or more.')
  if (!Number.isInteger(count) || count < 1 || count > MOST_AT_ONCE)
    throw new AppError('invalid', `--count must be a whole number from 1 to ${MOST_AT_ONCE}.`)
  const added = await db
    .insert(places)
    .values(
      Array.from({ length: count }, (_, i) => ({
        id: newId('srv'),
        instanceType,
        availabilityZone,
        launchTemplate,
        gpus,
        position: sql`(SELECT coalesce(max(position), 0) FROM servers) + ${i + 1}`,
      })),
    )
    .returning({ id: places.id })
  return added.map(({ id }) => id)
}

/**
 * Never hands out the place again. A server in it keeps running, and the row stays because past runs refer to
 * it.
 * @returns the place; if it was already retired, with its original time
 * @throws not_found
 */
export async function retirePlace({ db, now }: Hand, id: string): Promise<PlaceRow> {
  const [place] = await db
    .update(places)
    .set({ retiredAt: sql`coalesce(retired_at, ${now()})` })
    .where(eq(places.id, id))
    .returning()
  if (!place) throw new AppError('not_found', `There is no place with the id ${id}. List them to see their ids.`)
  return place
}

export type PlaceLine = {
  id: string
  type: string
  zone: string
  /** Null: EC2_LAUNCH_TEMPLATE. */
  template: string | null
  gpus: number
  state: 'free' | 'reserved' | 'set aside' | 'retired' | 'retired, in use'
  since: string | null
}

/** All places, including retired ones, by size and position. */
export async function listPlaces({ db, now }: Hand): Promise<PlaceLine[]> {
  const placeRows = await db.select().from(places).orderBy(asc(places.gpus), asc(places.position))
  return placeRows.map((place) => ({
    id: place.id,
    type: place.instanceType,
    zone: place.availabilityZone,
    template: place.launchTemplate,
    gpus: place.gpus,
    ...stateOf(place, now()),
  }))
}

function stateOf(place: PlaceRow, now: number): Pick<PlaceLine, 'state' | 'since'> {
  const { retiredAt, reservedBy, reservedAt, setAsideUntil } = place
  if (retiredAt !== null) return { state: reservedBy ? 'retired, in use' : 'retired', since: toIso(retiredAt) }
  if (reservedBy) return { state: 'reserved', since: toIso(reservedAt) }
  if (setAsideUntil > now) return { state: 'set aside', since: toIso(setAsideUntil - SET_ASIDE_MS) }
  return { state: 'free', since: null }
}
