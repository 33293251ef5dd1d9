import { isNull, sql } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { writeBatch } from '../../../db/client.ts'
import { environments, jobs, launches, places, runs, startTimes } from '../../../db/schema/fleet.ts'
import { warmMachines } from '../../../db/schema/warm.ts'
import { DAY_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import { NO_WISHES } from '../../../src/domain/run-wishes.ts'
import type { StartTimes } from '../../../src/domain/start-time.ts'
import { getAllowance } from '../../../src/server/billing/allowance.ts'
import { newId } from '../../../src/server/crypto/id.ts'
import { findAvailability, machineQueries, toMachines } from '../../../src/server/fleet/availability.ts'
import { countStartTimes } from '../../../src/server/fleet/count-start-times.ts'
import { startTimesQuery, toStartTimes } from '../../../src/server/fleet/start-times.ts'
import { toServer } from '../../../src/server/fleet/wire.ts'
import { memoryDatabase } from '../../../testing/stack/memory-database.ts'
import { type Customer, freshPlaces, latestRun, newCustomer } from '../../../testing/world/fleet.ts'
import { finishJobs, pressStart, pressStop, settle } from '../../../testing/world/play.ts'
import { openWorld } from '../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())
const { db } = world
// The past starts' own.
await freshPlaces(world, 1)
const SMALL = 'g6.4xlarge'

beforeEach(async () => {
  await writeBatch(db, [db.delete(jobs), db.delete(startTimes), db.delete(launches), db.delete(runs)])
  await db.update(places).set({ reservedBy: null, retiredAt: 1 })
})

type Past = Partial<typeof runs.$inferInsert> & { seconds: number; ready?: boolean }

/** Starts that ended just now, each with its job, as the runner leaves them. */
async function began({ user }: Customer, starts: Past[]) {
  const [place] = await db.select().from(places).limit(1)
  const now = world.clock.ms
  const rows = starts.map(({ seconds, ready = true, ...row }) => {
    const requestedAt = row.requestedAt ?? now - seconds * 1000
    const at = requestedAt + seconds * 1000
    const end = ready ? { billedFrom: at, stopRequestedAt: at + 60_000 } : { stopRequestedAt: at }
    const run = {
      id: newId('ses'),
      userId: user.id,
      placeId: place?.id ?? '',
      instanceType: SMALL,
      environment: 'Blocks',
    }
    return { ...run, ...end, endedAt: at + 90_000, ...row, requestedAt }
  })
  const ended = rows.map(({ id, endedAt, requestedAt, billedFrom }) => ({
    id: newId('job'),
    userId: user.id,
    runId: id,
    kind: 'server_start' as const,
    status: billedFrom ? ('succeeded' as const) : ('failed' as const),
    createdAt: requestedAt,
    updatedAt: (billedFrom ?? endedAt) as number,
  }))
  await writeBatch(db, [db.insert(runs).values(rows), db.insert(jobs).values(ended)])
}

const times = (count: number, seconds: number, more: Partial<Past> = {}) =>
  Array.from({ length: count }, (): Past => ({ seconds, ...more }))

/** What someone sees before they start. */
async function told({ user }: Customer, untilExit = false) {
  return toStartTimes(await startTimesQuery(world.ctx, user.id), untilExit)
}

const ofBlocks = (times: StartTimes[string][string]) => ({ Blocks: { [SMALL]: times } })

test("with 19 starts we don't know yet, with 20 we do", async () => {
  const ada = await newCustomer(world)
  await began(ada, times(19, 30))
  await countStartTimes(world.ctx)
  expect(await told(ada)).toEqual({})
  await began(ada, times(1, 30))
  world.advance(600)
  await countStartTimes(world.ctx)
  expect(await told(ada)).toEqual(ofBlocks({ cold: { p50: 30, p90: 30 } }))
})

test('a start that failed or was canceled makes it no shorter', async () => {
  const ada = await newCustomer(world)
  await began(ada, [...times(15, 100), ...times(5, 200)])
  await countStartTimes(world.ctx)
  expect(await told(ada)).toEqual(ofBlocks({ cold: { p50: 100, p90: 200 } }))
  const bob = await newCustomer(world)
  // He gave up after 2 s, and after 150 s.
  await began(bob, [...times(12, 2, { ready: false }), ...times(8, 150, { ready: false })])
  world.advance(600)
  await countStartTimes(world.ctx)
  expect(await told(ada)).toEqual(ofBlocks({ cold: { p50: 100, p90: 200 } }))
  // Too many gave up later than any was ready: nobody knows how long nine in ten take.
  const eve = await newCustomer(world)
  await began(eve, times(20, 300, { ready: false }))
  world.advance(600)
  await countStartTimes(world.ctx)
  expect(await told(ada)).toEqual({})
})

test('starts whose users were told of a warm machine are apart, whatever became of it', async () => {
  const [ada, bob] = await Promise.all([newCustomer(world), newCustomer(world)])
  // Each account counts with its latest 20 starts, warm and cold together.
  await began(ada, [...times(19, 6, { toldWarm: true }), ...times(20, 75), ...times(19, 80)])
  await countStartTimes(world.ctx)
  expect(await told(ada)).toEqual(ofBlocks({ cold: { p50: 75, p90: 75 } }))
  // Its machine was given up: it took as long as a cold one, and a minute more.
  await began(bob, times(3, 140, { toldWarm: true, warm: false }))
  world.advance(600)
  await countStartTimes(world.ctx)
  expect(await told(bob)).toEqual(ofBlocks({ cold: { p50: 75, p90: 75 }, warm: { p50: 6, p90: 140 } }))
})

test('environments, machines, and runs that end with their program are apart', async () => {
  const ada = await newCustomer(world)
  await began(ada, [
    ...times(20, 30),
    ...times(20, 90, { environment: 'Mountains' }),
    ...times(20, 60, { instanceType: 'g6.12xlarge' }),
    ...times(20, 10, { untilExit: true }),
  ])
  await countStartTimes(world.ctx)
  const [quick, slow, large, exits] = [30, 90, 60, 10].map((seconds) => ({ cold: { p50: seconds, p90: seconds } }))
  expect(await told(ada)).toEqual({ Blocks: { [SMALL]: quick, 'g6.12xlarge': large }, Mountains: { [SMALL]: slow } })
  expect(await told(ada, true)).toEqual(exits && ofBlocks(exits))
})

test("of an image of one's own, only one's own starts count, and nobody else sees them", async () => {
  const [ada, bob, eve] = await Promise.all([newCustomer(world), newCustomer(world), newCustomer(world)])
  for (const { user } of [ada, bob])
    await db.insert(environments).values({
      id: newId('env'),
      name: 'Harbor',
      description: '',
      image: 'example.com/harbor:1',
      plans: ['premium'],
      userId: user.id,
      position: 0,
      createdAt: 0,
    })
  await began(ada, times(20, 45, { environment: 'Harbor' }))
  await began(bob, times(19, 400, { environment: 'Harbor' }))
  await countStartTimes(world.ctx)
  expect(await told(ada)).toEqual({ Harbor: { [SMALL]: { cold: { p50: 45, p90: 45 } } } })
  expect(await told(bob)).toEqual({})
  expect(await told(eve)).toEqual({})
})

test('in the catalog, nobody decides for everyone: of each account, its latest 20 count', async () => {
  const [ada, bob, eve] = await Promise.all([newCustomer(world), newCustomer(world), newCustomer(world)])
  const ago = (minutes: number) => ({ requestedAt: world.clock.ms - minutes * MINUTE_MS })
  await began(ada, [...times(100, 500, ago(20)), ...times(20, 400, ago(10))])
  await began(bob, times(20, 30, ago(10)))
  await began(eve, times(20, 30, ago(10)))
  await countStartTimes(world.ctx)
  expect(await told(eve)).toEqual(ofBlocks({ cold: { p50: 30, p90: 400 } }))
})

test('after 30 days a start no longer counts, and a kind that nobody starts is forgotten', async () => {
  const ada = await newCustomer(world)
  await began(ada, times(20, 30))
  await countStartTimes(world.ctx)
  expect(await told(ada)).toHaveProperty('Blocks')
  world.advance((29 * DAY_MS) / 1000)
  await countStartTimes(world.ctx)
  expect(await told(ada)).toHaveProperty('Blocks')
  world.advance(DAY_MS / 1000)
  await countStartTimes(world.ctx)
  expect(await told(ada)).toEqual({})
  expect(await db.$count(startTimes)).toBe(0)
})

test('a kind is counted every 10 minutes at most, and many kinds in turn', async () => {
  const ada = await newCustomer(world)
  await began(ada, times(20, 30))
  await countStartTimes(world.ctx)
  const countedAt = async () => (await db.select().from(startTimes)).map((row) => row.countedAt)
  const first = await countedAt()
  world.advance(599)
  await began(ada, times(1, 30))
  await countStartTimes(world.ctx)
  expect(await countedAt()).toEqual(first)
  world.advance(1)
  await countStartTimes(world.ctx)
  expect(await countedAt()).not.toEqual(first)

  for (let i = 0; i < 60; i++) await began(ada, times(1, 30, { environment: `World${i}` }))
  world.advance(600)
  // The kind that was counted before waits for those that never were.
  await countStartTimes(world.ctx)
  expect(await db.$count(startTimes)).toBe(51)
  await countStartTimes(world.ctx)
  expect(await db.$count(startTimes)).toBe(61)
})

test('is told with what is free, for the environment and the machine that would start', async () => {
  await freshPlaces(world, 2, 1)
  const ada = await newCustomer(world, { premium: true })
  await began(ada, [
    ...times(20, 30, { environment: 'Blocks', requestedAt: world.clock.ms - 5 * MINUTE_MS }),
    ...times(20, 60, {
      environment: 'Blocks',
      instanceType: 'g6.12xlarge',
      requestedAt: world.clock.ms - 5 * MINUTE_MS,
    }),
    ...times(20, 90, { environment: 'Mountains' }),
    ...times(20, 10, { environment: 'Mountains', untilExit: true }),
  ])
  await countStartTimes(world.ctx)
  const allowance = await getAllowance(world.ctx, ada.user.id)
  const p50 = async (wished: Partial<typeof NO_WISHES> = {}) =>
    (await findAvailability(world.ctx, ada.user.id, allowance, { ...NO_WISHES, ...wished })).ready_in_seconds?.p50
  expect(await p50({ environment: 'blocks' })).toBe(60)
  expect(await p50({ environment: 'Blocks', maxGpus: 1 })).toBe(30)
  expect(await p50({ environment: 'Mountains', maxGpus: 1 })).toBe(90)
  expect(await p50({ environment: 'Mountains', maxGpus: 1, untilExit: true })).toBe(10)
  // Without one, what she started last.
  expect(await p50({ maxGpus: 1 })).toBe(90)
  expect(await p50({ environment: 'Nowhere' })).toBeUndefined()
  // While all are taken, it's about the one that she would wait for.
  await db.update(places).set({ reservedBy: sql`'someone with ' || id` })
  expect(await p50({ environment: 'Blocks' })).toBe(60)
})

test('whether a ready machine waits is known before the click, and kept', async () => {
  await freshPlaces(world, 60)
  const rows = await db.select().from(places).where(isNull(places.retiredAt)).orderBy(places.position)
  // The keeper takes the last places, behind all that an answer lists as free.
  const [placeId = '', zone] = [rows.at(-1)?.id, rows.at(-1)?.availabilityZone]
  const ada = await newCustomer(world)
  await began(ada, [...times(20, 75), ...times(20, 6, { toldWarm: true })])
  await countStartTimes(world.ctx)
  const allowance = await getAllowance(world.ctx, ada.user.id)
  const before = async () => {
    const wished = { ...NO_WISHES, environment: 'Blocks' }
    const { ready_in_seconds, candidates } = await findAvailability(world.ctx, ada.user.id, allowance, wished)
    const [machine] = toMachines(await db.batch([...machineQueries(world.ctx, ada.user.id)]), 1)
    return [ready_in_seconds?.p50, candidates[0]?.server_id === placeId, candidates[0]?.warm, machine?.warm]
  }
  const cold = [75, false, false, false]
  expect(await before()).toEqual(cold)
  const now = world.clock.ms
  await db.insert(warmMachines).values({ token: 'warm_1', placeId, createdAt: now, instanceId: 'i-1', askedAt: now })
  // It boots.
  expect(await before()).toEqual(cold)
  await db.update(warmMachines).set({ readyAt: now })
  expect(await before()).toEqual([6, true, true, true])
  // It hangs, as far as we know.
  world.advance(60)
  expect(await before()).toEqual(cold)
  await db.update(warmMachines).set({ askedAt: world.clock.ms })
  const [eve, bob] = [await newCustomer(world), await newCustomer(world)]
  const { run } = await pressStart(world, eve)
  expect(run).toMatchObject({ placeId, availabilityZone: zone, toldWarm: true })
  expect(toServer(run).warm).toBe(true)
  expect((await pressStart(world, bob)).run.toldWarm).toBe(false)
})

test('what it takes is from the click until the server answers', async () => {
  await freshPlaces(world, 1)
  world.answerMs = 40_000
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  await finishJobs(world, ada)
  const { environment, requestedAt, billedFrom } = await latestRun(world, ada.user.id)
  const took = Math.ceil(((billedFrom ?? 0) - requestedAt) / 1000)
  expect(took).toBeGreaterThan(40)
  await pressStop(world, ada)
  await settle(world, ada)
  const bob = await newCustomer(world)
  await began(bob, times(19, took, { environment }))
  await countStartTimes(world.ctx)
  expect(await told(bob)).toEqual({ [environment ?? '']: { [SMALL]: { cold: { p50: took, p90: took } } } })
})
