import { expect, test } from 'vitest'
import { places, runs } from '../../../db/schema/fleet.ts'
import { AppError } from '../../../src/domain/error.ts'
import { newId } from '../../../src/server/crypto/id.ts'
import { unansweredQuery } from '../../../src/server/fleet/start-limits.ts'
import { memoryDatabase } from '../../../testing/stack/memory-database.ts'
import { type Customer, freshPlaces, jobsOf, latestRun, newCustomer, runsOf } from '../../../testing/world/fleet.ts'
import { pressStart, pressStop, settle } from '../../../testing/world/play.ts'
import { openWorld } from '../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())
/** Runs that are over, requested this many seconds ago. */
async function started(customer: Customer, secondsAgo: number[]) {
  const [place] = await world.db.select().from(places).limit(1)
  await world.db.insert(runs).values(
    secondsAgo.map((seconds) => {
      const at = world.clock.ms - seconds * 1000
      const ended = { stopRequestedAt: at + 500, endedAt: at + 1_000 }
      return {
        id: newId('ses'),
        userId: customer.user.id,
        placeId: place?.id ?? '',
        requestedAt: at,
        ...ended,
        instanceType: 'g6',
      }
    }),
  )
}
const every = (seconds: number, count: number, from = seconds) =>
  Array.from({ length: count }, (_, i) => from + i * seconds)

async function refusal(customer: Customer): Promise<AppError> {
  const error = await pressStart(world, customer).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(AppError)
  return error
}

test('after ten starts in 10 minutes, even canceled ones, refuses the eleventh', async () => {
  await freshPlaces(world, 2)
  const [ada, eve] = [await newCustomer(world, { demo: true }), await newCustomer(world)]
  const first = world.clock.ms
  for (let n = 0; n < 10; n++) {
    await pressStart(world, ada)
    await pressStop(world, ada)
    await settle(world, ada)
  }
  expect(world.clock.ms - first).toBeLessThan(600_000)
  const { code, message, retryAfter = 0 } = await refusal(ada)
  expect([code, message]).toEqual([
    'too_many',
    expect.stringMatching(/^You can start 10 servers in 10 minutes\. Try again in \d+m \d+s\.$/),
  ])
  expect(await runsOf(world, ada.user.id)).toHaveLength(10)
  // Nobody else is affected.
  await pressStart(world, eve)
  // Exact to the second.
  world.advance(retryAfter - 1)
  expect(await refusal(ada)).toMatchObject({ code: 'too_many', retryAfter: 1 })
  world.advance(1)
  expect((await pressStart(world, ada)).run.endedAt).toBeNull()
})

test('thirty in an hour', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await started(ada, every(115, 30, 60))
  expect(await refusal(ada)).toMatchObject({ code: 'too_many', retryAfter: 3_600 - (60 + 29 * 115) })
  const bob = await newCustomer(world)
  await started(bob, [...every(115, 29, 60), 3_600])
  expect((await pressStart(world, bob)).run.endedAt).toBeNull()
})

test('neither a start without capacity nor a refused one counts', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await started(ada, every(10, 9))
  world.ec2.inject('InsufficientInstanceCapacity', 1)
  await pressStart(world, ada)
  await settle(world, ada)
  expect(await jobsOf(world, ada.user.id)).toMatchObject([{ errorCode: 'no_capacity' }])
  await freshPlaces(world, 0)
  for (let n = 0; n < 3; n++) expect(await refusal(ada)).toMatchObject({ code: 'no_capacity' })
  await freshPlaces(world, 1)
  await pressStart(world, ada)
  // While it is live, that refusal comes first.
  expect(await refusal(ada)).toMatchObject({ code: 'has_server' })
  await pressStop(world, ada)
  await settle(world, ada)
  expect(await refusal(ada)).toMatchObject({ code: 'too_many' })
})

test('counts in the database while reserving, so a start in between counts', async () => {
  await freshPlaces(world, 2)
  const ada = await newCustomer(world)
  await started(ada, every(10, 9))
  let came = false
  world.wire = async (call, effect) => {
    if (!came && call.startsWith('db: batch UPDATE servers SET reserved')) {
      came = true
      await started(ada, [0])
    }
    return effect()
  }
  expect(await refusal(ada)).toMatchObject({ code: 'too_many' })
  world.wire = (_, effect) => effect()
  expect(came).toBe(true)
  expect((await latestRun(world, ada.user.id)).endedAt).not.toBeNull()
})

test.each([
  ['never answered', 0, (from: number) => ({ stopRequestedAt: from + 600_000 })],
  ['its user stopped just before the deadline', 1, (from: number) => ({ stopRequestedAt: from + 590_000 })],
  [
    'answered just before the deadline',
    1,
    (from: number) => ({ billedFrom: from + 590_000, stopRequestedAt: from + 591_000 }),
  ],
  ['we did not look at for days', 0, (from: number) => ({ stopRequestedAt: from + 300_000_000 })],
  [
    'never answered after its container started at once',
    0,
    (from: number) => ({ containerStartedAt: from - 1, stopRequestedAt: from + 700_000 }),
  ],
])('a server that %s is free for 2 hours a day, not all day', async (_, more, end) => {
  await freshPlaces(world, 2)
  const [ada, eve] = [await newCustomer(world), await newCustomer(world)]
  const [place] = await world.db.select().from(places).limit(1)
  const first = world.clock.ms
  const run = async (user: { id: string }, at: number) =>
    world.db.insert(runs).values({
      ...{ id: newId('ses'), userId: user.id, placeId: place?.id ?? '', instanceType: 'g6', requestedAt: at },
      ...{ runningAt: at, endedAt: at + 700_000, ...end(at) },
    })
  for (let n = 0; n < 12 + more; n++) await run(ada.user, first + n * 700_000)
  for (let n = 0; n < 11 + more; n++) await run(eve.user, first + n * 700_000)
  world.advance(3 * 3_600)
  await pressStart(world, eve)
  const { code, message, retryAfter = 0 } = await refusal(ada)
  expect([code, message]).toEqual([
    'too_many',
    'Your servers ran for 2 hours without answering in the last 24 hours. Contact us, or try again in 21h 0m 0s.',
  ])
  world.advance(retryAfter)
  await pressStart(world, ada)
})

test.each([
  ['pulls that ended themselves', 4, (from: number) => ({ pull, stopRequestedAt: from + 9e8 })],
  ['pulls whose user stopped them', 5, (from: number) => ({ pull, stopRequestedAt: from + 1_799_000 })],
  [
    'pulls whose containers never answered',
    3,
    (from: number) => ({ pull, containerStartedAt: from + 1_800_000, stopRequestedAt: from + 9e8 }),
  ],
])('a registry that drips holds no machine for free: %s', async (_, count, end) => {
  await freshPlaces(world, 2)
  const [ada, eve] = [await newCustomer(world), await newCustomer(world)]
  const [place] = await world.db.select().from(places).limit(1)
  const first = world.clock.ms
  const run = (user: { id: string }, at: number) =>
    world.db.insert(runs).values({
      ...{ id: newId('ses'), userId: user.id, placeId: place?.id ?? '', instanceType: 'g6', requestedAt: at },
      ...{ runningAt: at, endedAt: at + 2_600_000, ...end(at) },
    })
  for (let n = 0; n < count; n++) await run(ada.user, first + n * 2_600_000)
  for (let n = 0; n < count - 1; n++) await run(eve.user, first + n * 2_600_000)
  world.advance(5 * 3_600)
  await pressStart(world, eve)
  expect(await refusal(ada)).toMatchObject({ code: 'too_many' })
})

const pull = { startedAt: 0, heardAt: 0, percent: 0, percentAt: 0, bytes: 0 }

test('stopping each server as its machine comes up works 120 times a day, not 720', async () => {
  await freshPlaces(world, 2)
  const [ada, eve] = [await newCustomer(world), await newCustomer(world)]
  const [place] = await world.db.select().from(places).limit(1)
  const first = world.clock.ms
  const run = ({ user }: Customer, nth: number) => {
    const at = first + nth * 125_000
    const stopped = { runningAt: at, stopRequestedAt: at + 2_000, endedAt: at + 60_000 }
    const id = newId('ses')
    return { id, userId: user.id, placeId: place?.id ?? '', instanceType: 'g6', requestedAt: at, ...stopped }
  }
  await world.db.insert(runs).values(every(1, 120, 0).map((nth) => run(ada, nth)))
  await world.db.insert(runs).values(every(1, 119, 0).map((nth) => run(eve, nth)))
  // The last of them began more than an hour ago, so no other limit applies.
  world.advance(6 * 3_600)
  await pressStart(world, eve)
  const { code, retryAfter = 0 } = await refusal(ada)
  expect([code, retryAfter]).toEqual(['too_many', 18 * 3_600])
  world.advance(retryAfter)
  await pressStart(world, ada)
})

test.each([
  ['our outage of 5 hours', { stopRequestedAt: 5 * 3_600_000 }, 18],
  ["its trial's end", { stopRequestedAt: 5 * 3_600_000, mustStopAt: 10 * 60_000 }, 5],
])('after the last word of a program, it counts no more than the machine could win: %s', async (_, ends, minutes) => {
  await freshPlaces(world, 1)
  const { user } = await newCustomer(world)
  const [place] = await world.db.select().from(places).limit(1)
  const at = world.clock.ms
  const times = Object.fromEntries(Object.entries(ends).map(([name, ms]) => [name, at + ms]))
  await world.db.insert(runs).values({
    ...{
      id: newId('ses'),
      userId: user.id,
      placeId: place?.id ?? '',
      instanceType: 'g6',
      requestedAt: at,
      untilExit: true,
    },
    ...{ runningAt: at, billedFrom: at, meteredUntil: at + 5 * 60_000, endedAt: at + 6 * 3_600_000, ...times },
  })
  const [{ ms } = { ms: 0 }] = await unansweredQuery(world.ctx, user.id, at + 6 * 3_600_000)
  expect(ms).toBe((1 + minutes) * 60_000)
})
