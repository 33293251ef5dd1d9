import { asc, desc, eq, sql } from 'drizzle-orm'
import { writeBatch } from '../../db/client.ts'
import { apiTokens, users } from '../../db/schema/accounts.ts'
import { plans } from '../../db/schema/billing.ts'
import { jobs, places, runs } from '../../db/schema/fleet.ts'
import { DAY_MS } from '../../src/domain/instant.ts'
import { newId } from '../../src/server/crypto/id.ts'
import type { World } from './world.ts'

const ZONES = ['us-east-1a', 'us-east-1b', 'us-east-1c']

/**
 * From now on, only these places are free.
 * @param large how many of them, from the end, have 4 GPUs
 * @returns their ids, by position
 */
export async function freshPlaces(world: World, count: number, large = 0): Promise<string[]> {
  const placeRows = Array.from({ length: count }, (_, position) => ({
    id: newId('srv'),
    ...(position < count - large ? { instanceType: 'g6.4xlarge', gpus: 1 } : { instanceType: 'g6.12xlarge', gpus: 4 }),
    availabilityZone: ZONES[position % ZONES.length] as string,
    position,
  }))
  await writeBatch(world.db, [
    world.db.run(sql`UPDATE servers SET reserved_by = 'someone with ' || id WHERE reserved_by IS NULL`),
    ...(count ? [world.db.insert(places).values(placeRows)] : []),
  ])
  return placeRows.map((place) => place.id)
}

type Account = { demo?: boolean; premium?: boolean; secondsUsed?: number; suspendedAt?: number }

/** Someone who may start servers: on a paid plan, or on a trial with some seconds used. */
export async function newCustomer(world: World, account: Account = {}) {
  const { demo = false, premium = false, secondsUsed = 0, suspendedAt = null } = account
  const { db, clock } = world
  const id = newId('user')
  // As sign-up stores it.
  const email = `${id.toLowerCase()}@example.com`
  const before = Math.floor(clock.ms / 1000) * 1000 - 86_400_000
  await writeBatch(db, [
    db.insert(users).values({ id, email, name: 'Ada', passwordHash: '', createdAt: before, suspendedAt }),
    db.insert(plans).values({
      id: newId('sub'),
      userId: id,
      planType: demo ? 'demo' : premium ? 'premium' : 'basic',
      subType: demo ? 'demo' : 'paid',
      status: demo ? 'trialing' : 'active',
      anchor: before,
      hours: demo ? 0.5 : 5,
      createdAt: before,
    }),
    ...(secondsUsed ? [db.insert(runs).values(await pastRun(world, id, before, secondsUsed))] : []),
  ])
  return { user: { id, name: 'Ada', email, admin: false } }
}
/** A live API token of theirs, whose secret nobody knows. */
export async function giveToken(world: World, { user }: Customer, name: string): Promise<void> {
  const id = newId('tok')
  const times = { createdAt: world.clock.ms, expiresAt: world.clock.ms + DAY_MS }
  await world.db.insert(apiTokens).values({ id, hash: id, userId: user.id, name, scope: 'operate', ...times })
}

export type Customer = Awaited<ReturnType<typeof newCustomer>>

async function pastRun(world: World, userId: string, from: number, seconds: number) {
  const [place] = await world.db.select().from(places).limit(1)
  const end = from + seconds * 1000
  return {
    id: newId('ses'),
    userId,
    placeId: place?.id ?? '',
    instanceType: 'g6.4xlarge',
    requestedAt: from,
    runningAt: from,
    billedFrom: from,
    confirmedAt: end,
    stopRequestedAt: end,
    meteredUntil: end,
    endedAt: end,
    endedBecause: 'you' as const,
  }
}

export const jobsOf = (world: World, userId: string) =>
  world.db.select().from(jobs).where(eq(jobs.userId, userId)).orderBy(asc(jobs.createdAt), asc(jobs.kind))

export const runsOf = (world: World, userId: string) =>
  world.db.select().from(runs).where(eq(runs.userId, userId)).orderBy(desc(runs.requestedAt))

export async function latestRun(world: World, userId: string) {
  const [run] = await runsOf(world, userId)
  if (!run) throw new Error('There is no run.')
  return run
}

export const instancesOf = (world: World, userId: string) =>
  world.ec2.history().filter((instance) => instance.tags.user === userId)

export const aliveOf = (world: World, userId: string) =>
  world.ec2.instances().filter((i) => i.tags.user === userId && (i.state === 'pending' || i.state === 'running'))

/** The ids of the runs that hold a place in this database. */
export async function holders(world: World): Promise<string[]> {
  const rows = await world.db.all<{ holder: string }>(
    sql`SELECT reserved_by AS holder FROM servers WHERE reserved_by LIKE 'ses_%'`,
  )
  return rows.map((row) => row.holder)
}
