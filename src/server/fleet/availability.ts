import { and, desc, isNull, lte, type SQL, sql } from 'drizzle-orm'
import type { BatchResponse } from 'drizzle-orm/batch'
import { type PlaceRow, places } from '../../../db/schema/fleet.ts'
import { BASIC, ENTERPRISE, PREMIUM } from '../../domain/money/plan.ts'
import { NO_WISHES, type RunWishes } from '../../domain/run-wishes.ts'
import { startTimeOf } from '../../domain/start-time.ts'
import type { Availability, Machine } from '../../domain/wire/fleet.ts'
import { choose } from '../../domain/worlds.ts'
import type { Allowance } from '../billing/allowance.ts'
import type { Context } from '../runtime/context.ts'
import { isLeftFor } from './line/hold-back.ts'
import { isFreeFor } from './line/turns.ts'
import { startTimesQuery, toStartTimes } from './start-times.ts'
import { hasReady, warmFirst } from './warm/take.ts'
import { toWorlds, worldQueries } from './worlds.ts'

/** Keeps the answer of a fleet of thousands small: 100 candidates take about 16 KB. */
const MOST_CANDIDATES = 100
/** How many of them are free places, if the first in order are taken. */
const FREE_CANDIDATES = 50

/** No more than we need: thousands of values take the database longer to send than to find. */
function candidate(userId: string | SQL, now: number) {
  return {
    id: places.id,
    gpus: places.gpus,
    instanceType: places.instanceType,
    availabilityZone: places.availabilityZone,
    reserved: sql<0 | 1>`(reserved_by IS NOT NULL OR NOT ${isLeftFor(userId, now)})`,
    setAsideUntil: places.setAsideUntil,
    warm: sql<0 | 1>`(${isFreeFor(userId, now)} AND ${hasReady(userId, now)})`,
  }
}

/** The place that a start with at most so many GPUs would get. */
function firstQuery(ctx: Context, userId: string | SQL, gpus: number) {
  const now = ctx.now()
  const isOffered = sql`${isFreeFor(userId, now)} AND gpus <= ${gpus}`
  const free = sql`SELECT id FROM servers WHERE ${isOffered} ORDER BY gpus DESC, position LIMIT 1`
  return ctx.db
    .select(candidate(userId, now))
    .from(places)
    .where(sql`${places.id} = ${warmFirst(free, isOffered, userId, now)}`)
}

/** The one that a start of each plan's size would get, the largest first. */
export function machineQueries(ctx: Context, userId: string | SQL) {
  return [
    firstQuery(ctx, userId, ENTERPRISE.gpus),
    firstQuery(ctx, userId, PREMIUM.gpus),
    firstQuery(ctx, userId, BASIC.gpus),
  ] as const
}

/** What would start now for someone who may have this many GPUs, and the smaller machines they may choose. */
export function toMachines(rows: BatchResponse<ReturnType<typeof machineQueries>>, gpus: number): Machine[] {
  const allowed = rows.flat().filter((place) => place.gpus <= gpus)
  return allowed.filter(({ id }, i) => allowed.findIndex((other) => other.id === id) === i).map(toMachine)
}

function toMachine(place: Pick<PlaceRow, 'instanceType' | 'availabilityZone'> & { warm: 0 | 1 }): Machine {
  return {
    instance_type: place.instanceType,
    availability_zone: place.availabilityZone,
    warm: place.warm === 1,
  }
}

/**
 * Checks the places that the user's plan and wishes allow, in the order in which we would reserve them, and says how
 * long a start usually takes.
 */
export async function findAvailability(
  ctx: Context,
  userId: string,
  { plan, ...allowance }: Pick<Allowance, 'gpus' | 'plan'>,
  wished: Pick<RunWishes, 'environment' | 'maxGpus' | 'untilExit'> = NO_WISHES,
): Promise<Availability> {
  const now = ctx.now()
  const gpus = Math.min(allowance.gpus, wished.maxGpus ?? allowance.gpus)
  const allowed = and(isNull(places.retiredAt), lte(places.gpus, gpus))
  const order = [desc(places.gpus), places.position]
  const [first, free, times, catalog, [last], ...smaller] = await ctx.db.batch([
    ctx.db
      .select(candidate(userId, now))
      .from(places)
      .where(allowed)
      .orderBy(...order)
      .limit(MOST_CANDIDATES),
    ctx.db
      .select(candidate(userId, now))
      .from(places)
      .where(and(allowed, isFreeFor(userId, now)))
      .orderBy(...order)
      .limit(FREE_CANDIDATES),
    startTimesQuery(ctx, userId),
    ...worldQueries(ctx, userId),
    // People can choose a smaller one even behind thousands of large ones. Warm ones come last in order.
    ...machineQueries(ctx, userId),
    firstQuery(ctx, userId, gpus),
  ])
  const known = new Set(first.map(({ id }) => id))
  const freeBeyond = [...free, ...smaller.flat().filter((place) => place.gpus <= gpus)].filter(
    ({ id }, i, all) => !known.has(id) && all.findIndex((other) => other.id === id) === i,
  )
  const candidates = [...first.slice(0, MOST_CANDIDATES - freeBeyond.length), ...freeBeyond]
    // A start prefers a warm one to others of its size.
    .toSorted((a, b) => b.gpus - a.gpus || b.warm - a.warm)
    .map((place) => {
      const reason = whyNotOffered(place, now)
      return { ...toMachine(place), server_id: place.id, available: reason === null, reason }
    })
  const next = candidates.find((candidate) => candidate.available)
  const { environments } = toWorlds(catalog, plan)
  const environment = choose(environments, wished.environment, last?.environment ?? null)?.name ?? ''
  // If none is free, the time is for the one that they would wait for.
  const machine = next ?? candidates[0]
  return {
    ServerAvailable: next !== undefined,
    ready_in_seconds: (machine && startTimeOf(toStartTimes(times, wished.untilExit), environment, machine)) ?? null,
    candidates,
  }
}

function whyNotOffered(place: { reserved: 0 | 1; setAsideUntil: number }, now: number): string | null {
  if (place.reserved) return 'Reserved'
  return place.setAsideUntil > now ? 'Out of capacity' : null
}
