import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { environments, places, runs, secrets } from '../../../db/schema/fleet.ts'
import { toIso } from '../../../src/domain/instant.ts'
import type { PlanType } from '../../../src/domain/money/plan.ts'
import { NO_WISHES } from '../../../src/domain/run-wishes.ts'
import { grantPlan } from '../../../src/server/billing/plans/grants.ts'
import { newId } from '../../../src/server/crypto/id.ts'
import { changeRun } from '../../../src/server/fleet/change-run.ts'
import { dashboardQueries, toDashboard } from '../../../src/server/fleet/dashboard.ts'
import { joinLine } from '../../../src/server/fleet/line/join.ts'
import { keepLine } from '../../../src/server/fleet/line/keep.ts'
import { type Starter, startRun } from '../../../src/server/fleet/start-run.ts'
import { memoryDatabase } from '../../../testing/stack/memory-database.ts'
import { type Customer, freshPlaces, giveToken, latestRun, newCustomer } from '../../../testing/world/fleet.ts'
import { finishJobs, pressStart, pressStop, settle } from '../../../testing/world/play.ts'
import { openWorld } from '../../../testing/world/world.ts'

const HOUR = 3600
const world = await openWorld(memoryDatabase())

async function look({ user }: Customer) {
  const reads = await world.db.batch([...dashboardQueries(world.ctx, user.id)])
  return toDashboard(reads, world.ctx)
}
const stopAfterOf = async (customer: Customer) => (await look(customer)).stopAfter
const grant = ({ user }: Customer, type: PlanType) => grantPlan(world.ctx, user.email, { type, hours: 5 })

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
  await grant(ada, 'basic')
  expect(await stopAfterOf(ada)).toBe(4 * HOUR)
  await startAndStop(ada, null)
  expect(await stopAfterOf(ada)).toBeNull()
  // Neither are those of a trial that comes later.
  await startAndStop(ada, 2 * HOUR)
  await grant(ada, 'demo')
  await startAndStop(ada, null)
  expect(await stopAfterOf(ada)).toBe(2 * HOUR)
})

test("a trial's servers are none either where the row doesn't tell, before a plan and after", async () => {
  const ada = await newCustomer(world, { demo: true })
  await startAndStop(ada, null)
  expect((await latestRun(world, ada.user.id)).mustStopAt).not.toBeNull()
  await world.db.update(runs).set({ inTrial: false }).where(eq(runs.userId, ada.user.id))
  expect(await stopAfterOf(ada)).toBe(4 * HOUR)
  world.advance(1)
  await grant(ada, 'basic')
  expect(await stopAfterOf(ada)).toBe(4 * HOUR)
  await startAndStop(ada, null)
  expect(await stopAfterOf(ada)).toBeNull()
  // Their first plan counts, not the latest.
  await grant(ada, 'premium')
  expect(await stopAfterOf(ada)).toBeNull()
})

test('a server that a plan took over from a trial is no choice, and we ask for its end until they move it', async () => {
  const ada = await newCustomer(world, { demo: true })
  await start(ada, null)
  expect((await look(ada)).asksEnd).toBeNull()
  await grant(ada, 'basic')
  const run = await latestRun(world, ada.user.id)
  const endsAt = toIso(run.endsAt ?? 0)
  expect(await look(ada)).toMatchObject({ stopAfter: 4 * HOUR, asksEnd: { run: run.id, endsAt } })
  await changeRun(world.ctx, ada, run.id, { ends_at: null })
  expect(await look(ada)).toMatchObject({ stopAfter: 4 * HOUR, asksEnd: null })
  await pressStop(world, ada)
  await settle(world, ada)
  expect((await look(ada)).asksEnd).toBeNull()
})

test("a script's starts don't push their choice out, however many there are", async () => {
  const ada = await newCustomer(world)
  await startAndStop(ada, null)
  const { id: _, ...like } = await latestRun(world, ada.user.id)
  for (let n = 1; n <= 110; n++)
    await world.db
      .insert(runs)
      .values({ ...like, id: newId('ses'), byToken: true, stopAfter: 60, requestedAt: like.requestedAt + n })
  expect(await stopAfterOf(ada)).toBeNull()
})

test("someone else's choice is none", async () => {
  const [ada, eve] = [await newCustomer(world), await newCustomer(world)]
  await startAndStop(eve, HOUR)
  expect(await stopAfterOf(ada)).toBe(4 * HOUR)
})

test('whoever waits in line since their trial gets the first end of their plan', async () => {
  const ada = await newCustomer(world, { demo: true })
  const [place = ''] = await freshPlaces(world, 1)
  const reserve = (reservedBy: string | null) => world.db.update(places).set({ reservedBy }).where(eq(places.id, place))
  await reserve('ses_other')
  await joinLine(world.ctx, ada, NO_WISHES, true)
  await keepLine(world.ctx)
  await grant(ada, 'basic')
  await reserve(null)
  await keepLine(world.ctx)
  await world.process.settle()
  await finishJobs(world, ada)
  expect(await latestRun(world, ada.user.id)).toMatchObject({ inTrial: false, stopAfter: 4 * HOUR })
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
  await giveToken(world, ada, 'CI')
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

test('offers secrets by name once there are some, and an image of their own that gets them', async () => {
  const [ada, ben] = [await newCustomer(world, { premium: true }), await newCustomer(world, { premium: true })]
  const put = ({ user }: Customer, name: string, username: string | null = null) =>
    world.db.insert(secrets).values({ userId: user.id, name, username, sealed: 'hidden', createdAt: 0, updatedAt: 0 })
  for (const customer of [ada, ben]) await put(customer, 'ghcr.io', 'robot')
  await put(ada, 'TOKEN')
  await put(ada, 'KEY')
  expect((await look(ada)).secrets).toBeNull()
  for (const { user } of [ada, ben]) {
    const own = { id: `env_${user.id}`, name: `Own${user.id}`, description: '', plans: ['premium' as const] }
    await world.db.insert(environments).values({ ...own, position: 1, userId: user.id, createdAt: 0 })
  }
  const own = [`Own${ada.user.id}`]
  expect((await look(ada)).secrets).toEqual({ names: ['KEY', 'TOKEN'], own, last: [] })
  expect((await look(ben)).secrets).toBeNull()
  await freshPlaces(world, 1)
  await startRun(world.process.ctx, ada, null, null, { ...NO_WISHES, environment: own[0] ?? '', secrets: ['KEY'] })
  expect((await look(ada)).secrets).toEqual({ names: ['KEY', 'TOKEN'], own, last: ['KEY'] })
  await settle(world, ada)
})
