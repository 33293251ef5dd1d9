import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { launches } from '../../../../db/schema/fleet.ts'
import { memoryDatabase } from '../../../../testing/stack/memory-database.ts'
import { aliveOf, type Customer, freshPlaces, latestRun, newCustomer } from '../../../../testing/world/fleet.ts'
import { finishJobs, pressStart, pressStop, running } from '../../../../testing/world/play.ts'
import { openWorld, type World } from '../../../../testing/world/world.ts'

const db = memoryDatabase()

function callsSince(world: World, from: number) {
  const calls = world.ec2.calls().filter(({ at }) => at >= from)
  const count = (name: string) => calls.filter(({ action }) => action === name).length
  return { terminate: count('TerminateInstances'), describe: count('DescribeInstances') }
}

test.each([
  ['a running server', running],
  [
    'a booting server',
    async (world: World, customer: Customer) => {
      await pressStart(world, customer)
      await world.ring(customer.user.id)
    },
  ],
])(
  'stopping %s that shuts down for 60 s asks EC2 once to terminate it and at most 10 times for its state',
  async (_, begin) => {
    const world = await openWorld(db, { shutdownMs: 60_000 })
    await freshPlaces(world, 1)
    const ada = await newCustomer(world)
    await begin(world, ada)
    const from = world.clock.ms
    await pressStop(world, ada)
    await finishJobs(world, ada)
    const calls = callsSince(world, from)
    expect(calls.terminate).toBe(1)
    expect(calls.describe).toBeLessThanOrEqual(10)
    const { endedAt } = await latestRun(world, ada.user.id)
    expect((endedAt ?? 0) - from).toBeGreaterThanOrEqual(60_000)
    expect((endedAt ?? 0) - from).toBeLessThan(80_000)
  },
)

test('a stop that takes EC2 2 s is done within 5', async () => {
  const world = await openWorld(db, { shutdownMs: 2_000 })
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  const from = world.clock.ms
  await pressStop(world, ada)
  await finishJobs(world, ada)
  expect(((await latestRun(world, ada.user.id)).endedAt ?? 0) - from).toBeLessThan(5_000)
})

test('if an instance keeps running after EC2 agreed to end it, asks again after 30 s, and then less and less often', async () => {
  const world = await openWorld(db)
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  const real = world.ctx.cloud.terminate
  const asked: number[] = []
  world.ctx.cloud.terminate = async () => {
    asked.push(world.clock.ms)
    return 'accepted'
  }
  await pressStop(world, ada)
  const begun = world.clock.ms
  while (world.clock.ms < begun + 1_800_000) await world.ring(ada.user.id)
  const gaps = asked.slice(1).map((at, i) => Math.round((at - (asked[i] ?? 0)) / 1_000))
  for (const [i, least] of [30, 30, 60, 120, 240, 480].entries()) {
    expect(gaps[i]).toBeGreaterThanOrEqual(least)
    expect(gaps[i]).toBeLessThan(least * 1.5 + 15)
  }
  expect(asked.length).toBeLessThanOrEqual(7)
  world.ctx.cloud.terminate = real
  await finishJobs(world, ada)
  expect(aliveOf(world, ada.user.id)).toEqual([])
})

test.each(['throttles', 'does not know the instance for'])(
  'a termination that EC2 %s is requested again within seconds',
  async (how) => {
    const world = await openWorld(db)
    await freshPlaces(world, 1)
    const ada = await newCustomer(world)
    await running(world, ada)
    const real = world.ctx.cloud.terminate
    if (how === 'throttles') world.ec2.inject('RequestLimitExceeded', 2, { action: 'TerminateInstances' })
    else {
      let left = 3
      world.ctx.cloud.terminate = async (id) => (left-- > 0 ? 'unknown' : real(id))
    }
    const from = world.clock.ms
    await pressStop(world, ada)
    await world.ringUntil(ada.user.id, async () => aliveOf(world, ada.user.id).length === 0)
    expect(world.clock.ms - from).toBeLessThan(10_000)
    world.ctx.cloud.terminate = real
    await finishJobs(world, ada)
  },
)

test('a request that never reached EC2 is repeated after 10 minutes, however long the stop had waited before', async () => {
  const world = await openWorld(db)
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  const { run } = await pressStop(world, ada)
  world.clock.ms += 50 * 86_400_000
  // The program wrote it down, and ended.
  await db.update(launches).set({ terminateAskedAt: world.clock.ms }).where(eq(launches.runId, run.id))
  const from = world.clock.ms
  while (world.clock.ms < from + 11 * 60_000 && aliveOf(world, ada.user.id).length > 0) await world.ring(ada.user.id)
  expect(world.clock.ms - from).toBeGreaterThanOrEqual(600_000)
  expect(aliveOf(world, ada.user.id)).toEqual([])
})
