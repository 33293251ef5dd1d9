import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../db/schema/accounts.ts'
import { places } from '../../../db/schema/fleet.ts'
import { NO_WISHES } from '../../../src/domain/run-wishes.ts'
import { getAllowance } from '../../../src/server/billing/allowance.ts'
import { findAvailability } from '../../../src/server/fleet/availability.ts'
import { startRun } from '../../../src/server/fleet/start-run.ts'
import { memoryDatabase } from '../../../testing/stack/memory-database.ts'
import { freshPlaces, jobsOf, latestRun, newCustomer, runsOf } from '../../../testing/world/fleet.ts'
import { finishJobs, pressStart } from '../../../testing/world/play.ts'
import { openWorld } from '../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())

const availabilityOf = async (userId: string) =>
  findAvailability(world.ctx, userId, await getAllowance(world.ctx, userId))

test('two clicks on Start make one run and one job', async () => {
  await freshPlaces(world, 5)
  const ada = await newCustomer(world)
  const clicks = await Promise.allSettled(Array.from({ length: 5 }, () => pressStart(world, ada)))
  expect(clicks.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const click of clicks)
    if (click.status === 'rejected') expect(click.reason).toMatchObject({ code: 'has_server' })
  expect(await runsOf(world, ada.user.id)).toHaveLength(1)
  expect(await jobsOf(world, ada.user.id)).toHaveLength(1)
  expect(await world.db.$count(places, eq(places.reservedBy, (await latestRun(world, ada.user.id)).id))).toBe(1)
})

test('a start that coincides with closing the account starts nothing', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  world.wire = async (name, effect) => {
    if (name.startsWith('db: batch UPDATE servers SET reserved_by'))
      await world.db.update(users).set({ closedAt: world.clock.ms }).where(eq(users.id, ada.user.id))
    return effect()
  }
  await expect(pressStart(world, ada)).rejects.toMatchObject({ code: 'unauthenticated' })
  world.wire = (_, effect) => effect()
  expect(await runsOf(world, ada.user.id)).toEqual([])
})

test('only one of those who want the last free place gets it', async () => {
  await freshPlaces(world, 1)
  const people = await Promise.all(Array.from({ length: 4 }, () => newCustomer(world)))
  const starts = await Promise.allSettled(people.map((person) => pressStart(world, person)))
  expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const start of starts)
    if (start.status === 'rejected') expect(start.reason).toMatchObject({ code: 'no_capacity' })
  expect((await availabilityOf(people[0]?.user.id ?? '')).ServerAvailable).toBe(false)
})

test('a requested place is reserved if free, refused if not, and must exist', async () => {
  const [, second] = await freshPlaces(world, 2)
  const [ada, eve] = [await newCustomer(world), await newCustomer(world)]
  expect((await pressStart(world, ada, second)).run.placeId).toBe(second)
  await expect(pressStart(world, eve, second)).rejects.toMatchObject({ code: 'no_capacity' })
  await expect(pressStart(world, eve, 'srv_none')).rejects.toMatchObject({ code: 'not_found' })
  expect(await runsOf(world, eve.user.id)).toEqual([])
})

test('Premium gets a large place while one is free, then a small one', async () => {
  const [small, large] = await freshPlaces(world, 2, 1)
  const [ada, eve] = [await newCustomer(world, { premium: true }), await newCustomer(world, { premium: true })]
  const { candidates } = await availabilityOf(ada.user.id)
  expect(candidates.flatMap(({ available, server_id }) => (available ? [server_id] : []))).toEqual([large, small])
  expect((await pressStart(world, ada)).run).toMatchObject({ placeId: large, instanceType: 'g6.12xlarge' })
  expect((await pressStart(world, eve)).run).toMatchObject({ placeId: small, instanceType: 'g6.4xlarge' })
})

test('reserves a smaller machine on request, and no larger one, even after EC2 refused it', async () => {
  const wish = (maxGpus: number) => ({ ...NO_WISHES, maxGpus })
  const [first, second] = await freshPlaces(world, 4, 2)
  const ada = await newCustomer(world, { premium: true })
  const { run } = await startRun(world.process.ctx, ada, null, null, wish(1))
  expect(run).toMatchObject({ placeId: first, instanceType: 'g6.4xlarge' })
  world.ec2.inject('InsufficientInstanceCapacity', 1)
  await finishJobs(world, ada)
  expect(await latestRun(world, ada.user.id)).toMatchObject({ placeId: second, instanceType: 'g6.4xlarge' })

  const eve = await newCustomer(world, { premium: true })
  await expect(startRun(world.ctx, eve, null, null, wish(3))).rejects.toMatchObject({
    code: 'no_capacity',
    message: 'No smaller machine is free right now. Choose the larger one, or try again in a minute.',
  })
  expect((await startRun(world.ctx, eve, null, null, wish(4))).run.instanceType).toBe('g6.12xlarge')
  await finishJobs(world, eve)
})

test('a request for more GPUs than the plan includes gets what the plan includes', async () => {
  const [small] = await freshPlaces(world, 2, 1)
  const ada = await newCustomer(world)
  expect((await startRun(world.ctx, ada, null, null, { ...NO_WISHES, maxGpus: 8 })).run.placeId).toBe(small)
  const eve = await newCustomer(world)
  await expect(startRun(world.ctx, eve, null, null, { ...NO_WISHES, maxGpus: 8 })).rejects.toMatchObject({
    message: 'No GPU servers available right now. All servers are reserved.',
  })
})

test('nobody gets a larger place than their plan allows, not by chance and not by its ID', async () => {
  const [large] = await freshPlaces(world, 1, 1)
  for (const account of [{}, { demo: true }]) {
    const ada = await newCustomer(world, account)
    expect((await availabilityOf(ada.user.id)).candidates.map((place) => place.server_id)).not.toContain(large)
    await expect(pressStart(world, ada)).rejects.toMatchObject({ code: 'no_capacity' })
    await expect(pressStart(world, ada, large)).rejects.toMatchObject({ code: 'not_found' })
  }
})

test('reserves nothing for someone who may not start', async () => {
  await freshPlaces(world, 1)
  const suspended = await newCustomer(world, { suspendedAt: 1 })
  const usedUp = await newCustomer(world, { demo: true, secondsUsed: 1_800 })
  await expect(startRun(world.ctx, suspended)).rejects.toMatchObject({ code: 'suspended' })
  await expect(startRun(world.ctx, usedUp)).rejects.toMatchObject({ code: 'no_minutes' })
  expect((await availabilityOf(usedUp.user.id)).candidates.filter(({ available }) => available)).toHaveLength(1)
})
