import { eq, sql } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { plans } from '../../../db/schema/billing.ts'
import { environments, places } from '../../../db/schema/fleet.ts'
import { NO_WISHES, type RunWishes } from '../../../src/domain/run-wishes.ts'
import { startRun } from '../../../src/server/fleet/start-run.ts'
import { memoryDatabase } from '../../../testing/stack/memory-database.ts'
import { type Customer, freshPlaces, latestRun, newCustomer, runsOf } from '../../../testing/world/fleet.ts'
import { finishJobs, pressStop, settle } from '../../../testing/world/play.ts'
import { openWorld } from '../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())
const EVERY = ['demo', 'basic', 'premium', 'enterprise'] as const

afterEach(async () => {
  world.wire = (_, effect) => effect()
  await world.db.delete(environments).where(sql`id LIKE 'env_test%'`)
  await world.db.update(environments).set({ retiredAt: null, plans: [...EVERY] })
})

async function addEnvironment(row: Partial<typeof environments.$inferInsert>) {
  const id = `env_test${Math.random()}`
  const values = { id, name: 'Harbor', description: 'Ships.', plans: [...EVERY], position: 4, createdAt: 0, ...row }
  await world.db.insert(environments).values(values)
  return id
}

const start = async (customer: Customer, wishes: Partial<RunWishes> = {}, placeId: string | null = null) =>
  (await startRun(world.process.ctx, customer, placeId, null, { ...NO_WISHES, ...wishes })).run

async function startAndStop(customer: Customer, wishes: Partial<RunWishes> = {}) {
  const run = await start(customer, wishes)
  await world.process.settle()
  await finishJobs(world, customer)
  await pressStop(world, customer)
  await settle(world, customer)
  return run
}

test('a start that failed is no last choice', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await startAndStop(ada, { environment: 'mountains', vehicle: 'ugv' })
  world.advance(1)
  world.ec2.inject('UnauthorizedOperation', 9, { action: 'RunInstances' })
  await start(ada, { environment: 'Neighborhood', vehicle: 'uav' })
  await settle(world, ada)
  world.ec2.heal()
  world.advance(1)
  expect(await startAndStop(ada)).toMatchObject({ environment: 'Mountains', vehicle: 'ugv' })
})

test('without a choice, a start gets the first environment and vehicle, and then the last choice', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  expect(await startAndStop(ada)).toMatchObject({ environment: 'Blocks', vehicle: 'uav', image: null })
  world.advance(1)
  const chosen = { environment: 'Mountains', vehicle: 'ugv' }
  expect(await startAndStop(ada, { environment: 'mountains', vehicle: 'ugv' })).toMatchObject(chosen)
  world.advance(1)
  expect(await startAndStop(ada)).toMatchObject(chosen)
  world.advance(1)
  expect(await start(ada, { environment: 'Neighborhood' })).toMatchObject({
    environment: 'Neighborhood',
    vehicle: 'ugv',
  })
})

test('a start keeps the image as it was at that moment', async () => {
  await freshPlaces(world, 1)
  const image = `ghcr.io/example/harbor@sha256:${'a'.repeat(64)}`
  const id = await addEnvironment({ image })
  const ada = await newCustomer(world)
  const run = await start(ada, { environment: 'Harbor' })
  await world.db.update(environments).set({ image: ':2', name: 'Port' }).where(eq(environments.id, id))
  expect(await latestRun(world, ada.user.id)).toMatchObject({ id: run.id, environment: 'Harbor', image })
})

test.each([
  [
    { environment: 'Harbor' },
    'Harbor needs Premium. Basic includes Blocks, Neighborhood, and Mountains.',
    'environment',
  ],
  [{ vehicle: 'multi' }, 'Multi-vehicle needs Premium. Basic includes UAV and UGV.', 'vehicle'],
  [{ vehicle: 'boat' }, 'There is no vehicle called "boat". Basic includes UAV and UGV.', 'vehicle'],
])('Basic refuses %o and reserves nothing', async (wishes, message, field) => {
  const [place] = await freshPlaces(world, 1)
  await addEnvironment({ plans: ['premium', 'enterprise'] })
  const ada = await newCustomer(world)
  await expect(start(ada, wishes)).rejects.toMatchObject({ code: 'not_offered', message, field })
  await expect(start(ada, wishes, place)).rejects.toMatchObject({ code: 'not_offered', message, field })
  expect(await runsOf(world, ada.user.id)).toEqual([])
  expect(await world.db.$count(places, sql`id = ${place} AND reserved_by IS NULL`)).toBe(1)
})

test('Premium may start both', async () => {
  await freshPlaces(world, 1)
  await addEnvironment({ plans: ['premium', 'enterprise'] })
  const ada = await newCustomer(world, { premium: true })
  expect(await start(ada, { environment: 'Harbor', vehicle: 'multi' })).toMatchObject({
    environment: 'Harbor',
    vehicle: 'multi',
  })
})

test("someone else's environment does not exist for you; your own comes under its name", async () => {
  await freshPlaces(world, 2)
  const [ada, eve] = [await newCustomer(world), await newCustomer(world)]
  await addEnvironment({ name: 'Mine', userId: ada.user.id })
  await expect(start(eve, { environment: 'Mine' })).rejects.toMatchObject({
    code: 'not_offered',
    message: 'There is no environment called "Mine". Basic includes Blocks, Neighborhood, and Mountains.',
  })
  expect(await start(ada, { environment: 'Mine' })).toMatchObject({ environment: 'Mine' })
})

test('a retired environment starts nothing new, even as the last choice, and leaves a running server alone', async () => {
  await freshPlaces(world, 2)
  const [ada, eve] = [await newCustomer(world), await newCustomer(world)]
  await startAndStop(ada, { environment: 'Mountains' })
  await start(eve, { environment: 'Mountains' })
  await world.db.update(environments).set({ retiredAt: 1 }).where(eq(environments.name, 'Mountains'))
  await world.process.settle()
  await finishJobs(world, eve)
  expect(await latestRun(world, eve.user.id)).toMatchObject({ environment: 'Mountains', endedAt: null })
  await expect(start(ada, { environment: 'Mountains' })).rejects.toMatchObject({ code: 'not_offered' })
  world.advance(1)
  expect(await start(ada)).toMatchObject({ environment: 'Blocks' })
})

test.each<[string, (userId: string) => Promise<unknown>]>([
  ['the environment is retired', () => world.db.update(environments).set({ retiredAt: 1 })],
  ['the plan no longer includes it', () => world.db.update(environments).set({ plans: ['enterprise'] })],
  ['the plan is downgraded', (id) => world.db.update(plans).set({ planType: 'basic' }).where(eq(plans.userId, id))],
  ['the plan turns unpaid', (id) => world.db.update(plans).set({ status: 'past_due' }).where(eq(plans.userId, id))],
  ['the plan ends', (id) => world.db.update(plans).set({ endedAt: 1 }).where(eq(plans.userId, id))],
  ['the plan is over', (id) => world.db.update(plans).set({ cancelAt: 1 }).where(eq(plans.userId, id))],
])('a start starts nothing if, a moment before it reserves, %s', async (_, change) => {
  const [place] = await freshPlaces(world, 1)
  const ada = await newCustomer(world, { premium: true })
  world.wire = async (name, effect) => {
    if (name.startsWith('db: batch UPDATE servers SET reserved_by')) await change(ada.user.id)
    return effect()
  }
  await expect(start(ada, { vehicle: 'multi' })).rejects.toMatchObject({
    code: 'conflict',
    message: 'Your plan, or the environment that you chose, just changed. Please try again.',
  })
  expect(await runsOf(world, ada.user.id)).toEqual([])
  expect(await world.db.$count(places, sql`id = ${place} AND reserved_by IS NULL`)).toBe(1)
})

test('a catalog without any environment starts nothing', async () => {
  await freshPlaces(world, 1)
  await world.db.update(environments).set({ retiredAt: 1 })
  await expect(start(await newCustomer(world))).rejects.toMatchObject({ code: 'unavailable' })
})

test('two environments never have the same name', async () => {
  await expect(addEnvironment({ name: 'BLOCKS' })).rejects.toThrow()
  const ada = await newCustomer(world)
  await addEnvironment({ name: 'Mine', userId: ada.user.id })
  await expect(addEnvironment({ name: 'mine', userId: ada.user.id })).rejects.toThrow()
})
