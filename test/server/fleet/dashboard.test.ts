import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { places, plans } from '../../../db/schema.ts'
import { NO_WISHES } from '../../../src/domain/run-wishes.ts'
import { dashboardQueries, toDashboard } from '../../../src/server/fleet/dashboard.ts'
import { joinLine } from '../../../src/server/fleet/line/join.ts'
import { keepLine } from '../../../src/server/fleet/line/keep.ts'
import { type Starter, startRun } from '../../../src/server/fleet/start-run.ts'
import { memoryDatabase } from '../../../testing/stack/memory-database.ts'
import { type Customer, freshPlaces, latestRun, newCustomer } from '../../../testing/world/fleet.ts'
import { finishJobs, pressStart, pressStop, settle } from '../../../testing/world/play.ts'
import { openWorld } from '../../../testing/world/world.ts'

const HOUR = 3600
const world = await openWorld(memoryDatabase())

async function stopAfterOf({ user }: Customer) {
  const reads = await world.db.batch([...dashboardQueries(world.ctx, user.id)])
  return toDashboard(reads, world.ctx).stopAfter
}

async function start(customer: Customer & Pick<Starter, 'tokenName'>, stopAfter: number | null) {
  await freshPlaces(world, 1)
  world.advance(1)
  await startRun(world.process.ctx, customer, null, null, {
    ...NO_WISHES,
    stopAfterMs: stopAfter === null ? null : stopAfter * 1000,
  })
  await world.process.settle()
  await finishJobs(world, customer)
}

async function startAndStop(customer: Customer, stopAfter: number | null) {
  await start(customer, stopAfter)
  await pressStop(world, customer)
  await settle(world, customer)
}

test('a server stops after 4 hours at first, and then as they last chose', async () => {
  const ada = await newCustomer(world)
  expect(await stopAfterOf(ada)).toBe(4 * HOUR)
  await startAndStop(ada, 2 * HOUR)
  expect(await stopAfterOf(ada)).toBe(2 * HOUR)
  await startAndStop(ada, null)
  expect(await stopAfterOf(ada)).toBeNull()
})

test("a trial's servers end by themselves, so they are no choice for those that they pay for", async () => {
  const ada = await newCustomer(world, { demo: true })
  await startAndStop(ada, null)
  world.advance(1)
  // As a checkout does it: the trial becomes a plan.
  const now = world.clock.ms
  await world.db.update(plans).set({ endedAt: now }).where(eq(plans.userId, ada.user.id))
  await world.db.insert(plans).values({
    id: `sub_${ada.user.id}`,
    userId: ada.user.id,
    planType: 'basic',
    subType: 'paid',
    status: 'active',
    anchor: now,
    hours: 5,
    createdAt: now,
  })
  expect(await stopAfterOf(ada)).toBe(4 * HOUR)
  await startAndStop(ada, null)
  expect(await stopAfterOf(ada)).toBeNull()
})

test('a start that was canceled before it answered is no choice', async () => {
  const ada = await newCustomer(world)
  await startAndStop(ada, 2 * HOUR)
  await freshPlaces(world, 1)
  await pressStart(world, ada)
  await pressStop(world, ada)
  await settle(world, ada)
  expect(await stopAfterOf(ada)).toBe(2 * HOUR)
})

test('a start by an API token is no choice, from the line neither', async () => {
  const ada = await newCustomer(world)
  await startAndStop(ada, 2 * HOUR)
  await start({ ...ada, tokenName: 'CI' }, null)
  expect(await stopAfterOf(ada)).toBe(2 * HOUR)
  await pressStop(world, ada)
  await settle(world, ada)
  const [place = ''] = await freshPlaces(world, 1)
  const reserve = (reservedBy: string | null) => world.db.update(places).set({ reservedBy }).where(eq(places.id, place))
  await reserve('ses_other')
  await joinLine(world.ctx, { ...ada, tokenName: 'CI' }, NO_WISHES, true)
  await reserve(null)
  await keepLine(world.ctx)
  await world.process.settle()
  await finishJobs(world, ada)
  expect(await latestRun(world, ada.user.id)).toMatchObject({ stopAfter: null, byToken: true })
  expect(await stopAfterOf(ada)).toBe(2 * HOUR)
})

test('a start that failed is no choice', async () => {
  const ada = await newCustomer(world)
  await startAndStop(ada, 2 * HOUR)
  world.ec2.inject('UnauthorizedOperation', 9, { action: 'RunInstances' })
  await start(ada, null)
  world.ec2.heal()
  expect(await stopAfterOf(ada)).toBe(2 * HOUR)
})
