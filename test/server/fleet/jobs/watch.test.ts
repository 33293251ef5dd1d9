import { eq } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { runs } from '../../../../db/schema.ts'
import { wakeOverdue } from '../../../../src/server/fleet/sweep.ts'
import { ownDatabase } from '../../../../testing/stack/own-database.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'
import {
  aliveOf,
  freshPlaces,
  holders,
  instancesOf,
  jobsOf,
  latestRun,
  newCustomer,
} from '../../../../testing/world/fleet.ts'
import { pressStop, running, sentences, settle } from '../../../../testing/world/play.ts'
import { openWorld } from '../../../../testing/world/world.ts'

const world = await openWorld((await ownDatabase()).url)
afterEach(() => expect(inBrief(world.takeLines())).toEqual([]))

test('checks a running server every 30 s and leaves it as it is', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  const run = await running(world, ada)
  const told = world.published.length
  for (let looks = 0; looks < 4; looks++) await world.ring(ada.user.id)
  const later = await latestRun(world, ada.user.id)
  expect(later).toEqual({ ...run, confirmedAt: later.confirmedAt })
  expect(later.confirmedAt).toBeGreaterThan(world.clock.ms - 1_000)
  expect(world.published.length).toBe(told)
})

test('notices a vanished instance within a minute; its run ends at the last confirmed second', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  for (let looks = 0; looks < 3; looks++) await world.ring(ada.user.id)
  const { confirmedAt } = await latestRun(world, ada.user.id)
  world.advance(11)
  const vanished = world.clock.ms
  world.ec2.inject('terminate_instance', 1, { instance_id: aliveOf(world, ada.user.id)[0]?.instanceId ?? '' })
  await settle(world, ada)
  const run = await latestRun(world, ada.user.id)
  expect(run.meteredUntil).toBe(confirmedAt)
  expect(run.meteredUntil).toBeLessThanOrEqual(instancesOf(world, ada.user.id)[0]?.shuttingDownAt ?? 0)
  expect(run.stopRequestedAt).toBeLessThan(vanished + 60_000)
  expect(await holders(world)).not.toContain(run.id)
  const [, stop] = await jobsOf(world, ada.user.id)
  expect(stop).toMatchObject({ kind: 'server_stop', status: 'failed', errorCode: 'instance_lost' })
  expect(sentences(world, ada).at(-1)).toMatch(
    /^Your server stopped unexpectedly\. We only count the time until we last saw it running\. You used [\dms ]+, covered by your plan\. Startup \(\d+s\) was free\.$/,
  )
})

test('concludes nothing while EC2 does not answer; when EC2 is back, the run continues', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  const run = await running(world, ada)
  world.ec2.inject('RequestLimitExceeded', 3, { action: 'DescribeInstances' })
  for (let looks = 0; looks < 5; looks++) await world.ring(ada.user.id)
  expect(inBrief(world.takeLines())).toEqual(Array(3).fill('watch_failed RequestLimitExceeded'))
  const later = await latestRun(world, ada.user.id)
  expect(later).toEqual({ ...run, confirmedAt: later.confirmedAt })
  expect(later.confirmedAt).toBeGreaterThan(run.confirmedAt ?? 0)
  await pressStop(world, ada)
  await settle(world, ada)
})

test('a trial that ends while EC2 does not answer is not billed beyond its minutes', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { demo: true, secondsUsed: 29 * 60 })
  const run = await running(world, ada)
  world.ec2.inject('RequestLimitExceeded', 12)
  await settle(world, ada)
  const [looks, steps] = ['watch_failed RequestLimitExceeded', 'job_step_failed RequestLimitExceeded']
  expect(inBrief(world.takeLines())).toEqual([...Array(2).fill(looks), ...Array(10).fill(steps)])
  expect((await latestRun(world, ada.user.id)).meteredUntil).toBe(run.mustStopAt)
  expect(aliveOf(world, ada.user.id)).toEqual([])
})

test.each(['shutting-down', 'terminated', 'stopping', 'stopped'] as const)(
  'an instance that is %s is lost at once',
  async (state) => {
    await freshPlaces(world, 1)
    const ada = await newCustomer(world)
    await running(world, ada)
    await world.ring(ada.user.id)
    const { confirmedAt } = await latestRun(world, ada.user.id)
    const real = world.ctx.cloud.findInstance
    world.ctx.cloud.findInstance = async (id) => {
      const found = await real(id)
      return found && { ...found, state }
    }
    await world.ring(ada.user.id)
    world.ctx.cloud.findInstance = real
    expect(await latestRun(world, ada.user.id)).toMatchObject({
      stopRequestedAt: expect.any(Number),
      meteredUntil: confirmedAt,
    })
    // EC2 reports it running again, but the decision stands.
    await settle(world, ada)
    expect(await latestRun(world, ada.user.id)).toMatchObject({ meteredUntil: confirmedAt })
  },
)

test('an instance that EC2 calls pending again has not ended, and is not confirmed', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  await world.ring(ada.user.id)
  const run = await latestRun(world, ada.user.id)
  const real = world.ctx.cloud.findInstance
  world.ctx.cloud.findInstance = async (id) => {
    const found = await real(id)
    return found && { ...found, state: 'pending' }
  }
  await world.ring(ada.user.id)
  world.ctx.cloud.findInstance = real
  expect(await latestRun(world, ada.user.id)).toEqual(run)
  await world.ring(ada.user.id)
  expect((await latestRun(world, ada.user.id)).confirmedAt).toBeGreaterThan(run.confirmedAt ?? 0)
})

test('a check during which a stop is accepted confirms nothing', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  await world.ring(ada.user.id)
  const { confirmedAt } = await latestRun(world, ada.user.id)
  let stopped = false
  world.wire = async (call, effect) => {
    const answer = await effect()
    if (call === 'ec2: find instance' && !stopped) {
      stopped = true
      await pressStop(world, ada)
    }
    return answer
  }
  await world.ring(ada.user.id)
  world.wire = (_, effect) => effect()
  expect(await latestRun(world, ada.user.id)).toMatchObject({ confirmedAt, stopRequestedAt: expect.any(Number) })
})

test("throttled checks are no more frequent than answered ones, even with the sweep; the log has EC2's code", async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  const run = await running(world, ada)
  world.random = () => 0.5
  world.ec2.inject('RequestLimitExceeded', 1_000, { action: 'DescribeInstances', instance_id: run.instanceId ?? '' })
  const begun = world.clock.ms
  for (let minute = 1; minute <= 10; minute++) {
    while ((world.nextAlarm(ada.user.id) ?? 0) < begun + minute * 60_000) await world.ring(ada.user.id)
    world.clock.ms = begun + minute * 60_000
    await wakeOverdue(world.ctx)
  }
  const looks = world.ec2.calls().filter(({ action, at }) => action === 'DescribeInstances' && at > begun)
  expect(looks.length).toBeGreaterThanOrEqual(10)
  expect(looks.length).toBeLessThanOrEqual(16)
  const lines = world.takeLines()
  expect(lines).toHaveLength(looks.length)
  for (const line of lines) {
    expect(line).toMatchObject({
      event: 'watch_failed',
      userId: ada.user.id,
      runId: run.id,
      instanceId: run.instanceId,
    })
    expect(line.error?.at(-1)).toMatchObject({ code: 'RequestLimitExceeded', requestId: expect.any(String) })
  }
  world.random = () => 0
  expect((await latestRun(world, ada.user.id)).stopRequestedAt).toBeNull()
})

test('a trial ends to the second while EC2 throttles every check', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { demo: true, secondsUsed: 29 * 60 })
  const run = await running(world, ada)
  world.ec2.inject('RequestLimitExceeded', 1_000, { action: 'DescribeInstances', instance_id: run.instanceId ?? '' })
  await world.ringUntil(ada.user.id, async () => (await latestRun(world, ada.user.id)).stopRequestedAt !== null, 20)
  expect(inBrief(world.takeLines())).toEqual(Array(2).fill('watch_failed RequestLimitExceeded'))
  const { mustStopAt, stopRequestedAt } = await latestRun(world, ada.user.id)
  expect((stopRequestedAt ?? 0) - (mustStopAt ?? 0)).toBeGreaterThanOrEqual(0)
  expect((stopRequestedAt ?? 0) - (mustStopAt ?? 0)).toBeLessThan(1_000)
})

test('checks nothing once nothing runs', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  await pressStop(world, ada)
  await settle(world, ada)
  expect(world.nextAlarm(ada.user.id)).toBeNull()
})

test('a plan that begins just as a trial ends keeps the server running', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { demo: true, secondsUsed: 29 * 60 })
  const run = await running(world, ada)
  world.advance(61)
  world.wire = async (call, effect) => {
    if (call.startsWith('db: batch')) await world.db.update(runs).set({ mustStopAt: null }).where(eq(runs.id, run.id))
    return effect()
  }
  await world.ring(ada.user.id)
  world.wire = (_, effect) => effect()
  expect(await latestRun(world, ada.user.id)).toMatchObject({ mustStopAt: null, stopRequestedAt: null })
})
