import { eq, sql } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { places } from '../../../../db/schema/fleet.ts'
import { lineTurns } from '../../../../db/schema/line.ts'
import { warmMachines } from '../../../../db/schema/warm.ts'
import { MINUTE_MS } from '../../../../src/domain/instant.ts'
import { NO_WISHES } from '../../../../src/domain/run-wishes.ts'
import { getAllowance } from '../../../../src/server/billing/allowance.ts'
import { findAvailability } from '../../../../src/server/fleet/availability.ts'
import { joinLine } from '../../../../src/server/fleet/line/join.ts'
import { findLinePlace } from '../../../../src/server/fleet/line/show.ts'
import { isFreeFor } from '../../../../src/server/fleet/line/turns.ts'
import { retirePlace } from '../../../../src/server/fleet/places.ts'
import { startRun } from '../../../../src/server/fleet/start-run.ts'
import type { Context } from '../../../../src/server/runtime/context.ts'
import { type Customer, freshPlaces, latestRun, newCustomer, runsOf } from '../../../../testing/world/fleet.ts'
import { openGroups } from '../../../../testing/world/groups.ts'
import { finishJobs, pressStart, running } from '../../../../testing/world/play.ts'

const { world, hand, empty, group, customers, shown, end, look } = await openGroups()
beforeEach(empty)

const join = (one: Customer, start = false) => joinLine(world.ctx, one, NO_WISHES, start)
const isFree = async (one: Customer, ctx: Context = world.ctx) => {
  const allowed = await getAllowance(ctx, one.user.id)
  return (await findAvailability(ctx, one.user.id, allowed)).ServerAvailable
}
const UNAVAILABLE = { code: 'no_capacity' }

test('holds its places back from the exact start to the exact end, for its people only', async () => {
  await freshPlaces(world, 2)
  const [ada, ben, cleo] = (await customers(3)) as [Customer, Customer, Customer]
  const { startsAt, endsAt } = await group({ count: 2, people: [ada], fromMs: 60_000 })
  // The world's clock moves on with every call.
  const at = (ms: number) => ({ ...world.ctx, now: () => ms })
  const start = (one: Customer, ms: number) => startRun(at(ms), one)
  const states = async (ms: number) => [await shown(at(ms)), await isFree(ada, at(ms)), await isFree(ben, at(ms))]
  expect(await states(startsAt - 1)).toEqual([{ state: 'upcoming', used: 0, held: 0, missing: 0 }, true, true])
  expect(await states(startsAt)).toEqual([{ state: 'on', used: 0, held: 2, missing: 0 }, true, false])
  await expect(start(ben, startsAt)).rejects.toMatchObject(UNAVAILABLE)
  await start(ada, startsAt)
  expect(await states(endsAt - 1)).toEqual([{ state: 'on', used: 1, held: 1, missing: 0 }, true, false])
  await expect(start(ben, endsAt - 1)).rejects.toMatchObject(UNAVAILABLE)
  expect(await states(endsAt)).toEqual([{ state: 'ended', used: 0, held: 0, missing: 0 }, true, true])
  await start(ben, endsAt)
  await expect(start(cleo, endsAt)).rejects.toMatchObject(UNAVAILABLE)
  // Ada's server keeps running.
  expect(await latestRun(world, ada.user.id)).toMatchObject({ endedAt: null, stopRequestedAt: null })
})

test('takes what frees before the line does, and ends nobody’s server', async () => {
  const [owner, other] = (await customers(2)) as [Customer, Customer]
  await freshPlaces(world, 2)
  await running(world, owner)
  await running(world, other)
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  await join(ben)
  await group({ people: [ada] })
  expect(await shown()).toMatchObject({ used: 0, held: 0, missing: 1 })
  await end(owner)
  expect(await shown()).toMatchObject({ used: 0, held: 1, missing: 0 })
  await look()
  expect(await findLinePlace(world.ctx, ben.user.id)).toMatchObject({ position: 1 })
  // The next one is the line's, in the write that frees it.
  await end(other)
  expect(await world.db.$count(places, eq(places.reservedBy, ben.user.id))).toBe(1)
  expect(await shown()).toMatchObject({ held: 1 })
  await pressStart(world, ada)
  expect((await runsOf(world, ada.user.id)).length).toBe(1)
})

test('a place that one of its people stops using is the group’s again', async () => {
  await freshPlaces(world, 1)
  const [ada, bea, ben] = (await customers(3)) as [Customer, Customer, Customer]
  await group({ people: [ada, bea] })
  await running(world, ada)
  await join(ben)
  await end(ada)
  expect(await shown()).toEqual({ state: 'on', used: 0, held: 1, missing: 0 })
  await expect(pressStart(world, ben)).rejects.toMatchObject(UNAVAILABLE)
  await pressStart(world, bea)
})

test('one of its people in line gets the next place, also while others wait', async () => {
  const [owner, ada, ben] = (await customers(3)) as [Customer, Customer, Customer]
  await freshPlaces(world, 1)
  await running(world, owner)
  await join(ben)
  world.advance(1)
  await join(ada)
  await group({ people: [ada] })
  await end(owner)
  expect(await world.db.$count(places, eq(places.reservedBy, ada.user.id))).toBe(1)
  expect(await shown()).toMatchObject({ used: 1, held: 0, missing: 0 })
})

test('one of its people does not wait in line while it has a free place', async () => {
  await freshPlaces(world, 1)
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  await group({ people: [ada] })
  await expect(join(ada)).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('free for you') })
  expect(await join(ben)).toMatchObject({ position: 1 })
})

test('its people cannot take more than its places while others wait', async () => {
  const [owner, second, ada, bea, ben] = (await customers(5)) as [Customer, Customer, Customer, Customer, Customer]
  await freshPlaces(world, 2)
  await running(world, owner)
  await running(world, second)
  await group({ people: [ada, bea] })
  await end(owner)
  await running(world, ada)
  await join(ben)
  await end(second)
  // The group has its place: this one is Ben's, and Bea waits behind him.
  await expect(pressStart(world, bea)).rejects.toMatchObject(UNAVAILABLE)
  expect(await world.db.$count(places, eq(places.reservedBy, ben.user.id))).toBe(1)
})

test('a click of one of its people never passes another of them in line', async () => {
  const [owner, ada, bea, ben] = (await customers(4)) as [Customer, Customer, Customer, Customer]
  await freshPlaces(world, 1)
  await running(world, owner)
  await join(ada)
  await join(ben)
  await group({ people: [ada, bea] })
  // As when a place comes back by itself: nothing was written at that moment.
  await freshPlaces(world, 1)
  await expect(pressStart(world, bea)).rejects.toMatchObject(UNAVAILABLE)
  await look()
  expect(await world.db.$count(places, eq(places.reservedBy, ada.user.id))).toBe(1)
})

test('a click of its people takes its place even while a place is about to go to the line', async () => {
  const [owner, ada, ben] = (await customers(3)) as [Customer, Customer, Customer]
  await freshPlaces(world, 1)
  await running(world, owner)
  await join(ben)
  await group({ people: [ada] })
  await freshPlaces(world, 2)
  await pressStart(world, ada)
  await look()
  expect(await world.db.$count(places, eq(places.reservedBy, ben.user.id))).toBe(1)
})

test('places held back for a group keep no other place from the line', async () => {
  await freshPlaces(world, 21, 20)
  const [owner, ben] = (await customers(2)) as [Customer, Customer]
  await pressStart(world, owner)
  const large = await newCustomer(world, { premium: true })
  await group({ count: 20, gpus: 4 })
  await join(ben)
  await join(large)
  await freshPlaces(world, 1)
  await world.db.update(places).set({ reservedBy: null }).where(eq(places.gpus, 4))
  await look()
  expect(await world.db.$count(places, eq(places.reservedBy, ben.user.id))).toBe(1)
  expect(await findLinePlace(world.ctx, large.user.id)).toMatchObject({ size: 4, position: 1 })
})

/** Three places, so many of them with a warm machine. */
async function kept(count: number) {
  await empty()
  const ids = await freshPlaces(world, 3)
  const now = world.clock.ms
  const ready = { createdAt: now, launchedAt: now / 1000, askedAt: now, readyAt: now }
  for (const placeId of ids.slice(0, count))
    await world.db
      .insert(warmMachines)
      .values({ token: `warm-${placeId}`, placeId, instanceId: `i-${placeId}`, ...ready })
  return ids
}

test('a group’s people find as many warm machines as it lacks, and others take what is beyond them', async () => {
  const [ada, ben, cleo] = (await customers(3)) as [Customer, Customer, Customer]
  await kept(2)
  await group({ people: [ada, await newCustomer(world)], count: 2 })
  const { run } = await pressStart(world, ben)
  expect(run.warm).toBe(false)
  // What is left is the group's: it lacks two.
  await expect(pressStart(world, cleo)).rejects.toMatchObject(UNAVAILABLE)
  expect((await pressStart(world, ada)).run.warm).toBe(true)

  const [dan, eve, fay] = (await customers(3)) as [Customer, Customer, Customer]
  await kept(2)
  await group({ people: [dan], count: 1 })
  expect((await pressStart(world, eve)).run.warm).toBe(true)
  expect((await pressStart(world, fay)).run.warm).toBe(false)
  expect((await pressStart(world, dan)).run.warm).toBe(true)
})

test('the line gets no warm machine that a group lacks, also once there is room for someone in it', async () => {
  const [, , cold = ''] = await kept(2)
  const setAside = (until: number) => world.db.update(places).set({ setAsideUntil: until }).where(eq(places.id, cold))
  await setAside(world.clock.ms + MINUTE_MS)
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  await group({ people: [ada, await newCustomer(world)], count: 2 })
  await join(ben)
  await look()
  expect(await findLinePlace(world.ctx, ben.user.id)).toMatchObject({ position: 1 })
  await setAside(0)
  await look()
  expect(await world.db.select({ id: places.id }).from(places).where(eq(places.reservedBy, ben.user.id))).toEqual([
    { id: cold },
  ])
})

test('a retired place is no group’s', async () => {
  const [first = ''] = await freshPlaces(world, 2)
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  await group({ people: [ada] })
  await retirePlace(hand, first)
  expect(await shown()).toMatchObject({ held: 1, missing: 0 })
  await expect(pressStart(world, ben)).rejects.toMatchObject(UNAVAILABLE)
  await pressStart(world, ada)
})

test('places of another size are another matter', async () => {
  await freshPlaces(world, 4, 2)
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  const [large, another] = [await newCustomer(world, { premium: true }), await newCustomer(world, { premium: true })]
  await group({ people: [ada] })
  world.advance(1)
  await group({ people: [large], gpus: 4 })
  await pressStart(world, ben)
  expect((await pressStart(world, another)).run.instanceType).toBe('g6.12xlarge')
  await expect(pressStart(world, await newCustomer(world, { premium: true }))).rejects.toMatchObject(UNAVAILABLE)
  expect((await pressStart(world, large)).run.instanceType).toBe('g6.12xlarge')
})

test('a start that must move on takes no place of a group', async () => {
  const [first = '', second = ''] = await freshPlaces(world, 2)
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  await pressStart(world, ben, first)
  await group({ people: [ada] })
  world.ec2.inject('InsufficientInstanceCapacity', 1)
  await finishJobs(world, ben)
  expect((await latestRun(world, ben.user.id)).errorMessage).toContain('All servers are reserved')
  expect((await pressStart(world, ada)).run.placeId).toBe(second)
})

test('a place that EC2 refused is no group’s, and what is held back is free for nobody in particular', async () => {
  const [, second = ''] = await freshPlaces(world, 2)
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  await world.db
    .update(places)
    .set({ setAsideUntil: world.clock.ms + MINUTE_MS })
    .where(eq(places.id, second))
  const free = () => world.db.all(sql`SELECT id FROM servers WHERE ${isFreeFor(null, world.clock.ms)}`)
  expect(await free()).toHaveLength(1)
  await group({ people: [ada] })
  expect(await free()).toEqual([])
  await expect(pressStart(world, ben)).rejects.toMatchObject(UNAVAILABLE)
  await pressStart(world, ada)
})

test('a group’s places are nobody’s turn; all others are, while a trial waits', async () => {
  const paidTurns = async (place: { people?: 'winner' | 'classmate'; gpus?: number; ms?: number }) => {
    await empty()
    await freshPlaces(world, 2)
    const [owner, classmate, winner] = (await customers(3)) as [Customer, Customer, Customer]
    await running(world, owner)
    await running(world, classmate)
    await join(winner)
    await join(await newCustomer(world, { demo: true }))
    const { people, gpus = 1, ms = 60 * MINUTE_MS } = place
    if (people) await group({ people: [people === 'winner' ? winner : classmate], gpus, ms })
    world.advance(60)
    await end(owner)
    expect(await world.db.$count(places, eq(places.reservedBy, winner.user.id))).toBe(1)
    return (await world.db.select().from(lineTurns))[0]?.paid ?? 0
  }
  expect(await paidTurns({})).toBe(1)
  expect(await paidTurns({ people: 'winner' })).toBe(0)
  expect(await paidTurns({ people: 'classmate' })).toBe(1)
  expect(await paidTurns({ people: 'winner', gpus: 4 })).toBe(1)
  expect(await paidTurns({ people: 'winner', ms: 30_000 })).toBe(1)
})
