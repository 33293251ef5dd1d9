import { eq, inArray } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { writeBatch } from '../../../db/client.ts'
import { users } from '../../../db/schema/accounts.ts'
import { places, runs } from '../../../db/schema/fleet.ts'
import type { CloudInstance, InstanceState } from '../../../src/server/ports/cloud.ts'
import { FLEET } from '../../../src/server/ports/objects.ts'
import { busy } from '../../../src/server/runtime/answered.ts'
import { alertsOf } from '../../../testing/stack/operator.ts'
import { inBrief } from '../../../testing/stack/recorded-log.ts'
import {
  aliveOf,
  type Customer,
  freshPlaces,
  holders,
  instancesOf,
  jobsOf,
  latestRun,
  newCustomer,
} from '../../../testing/world/fleet.ts'
import { pressStart, pressStop, running, sentences, settle } from '../../../testing/world/play.ts'
import { quietWorld } from '../../../testing/world/quiet-world.ts'

const world = await quietWorld()
const { cloud } = world.ctx
const { listPage } = cloud
afterEach(() => {
  cloud.listPage = listPage
  world.wire = (_, effect) => effect()
})

/** Someone whose server runs, and whose own alarms are over. */
async function pilot() {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  await settle(world, ada)
  await world.watch()
  return { ada, run: await latestRun(world, ada.user.id) }
}

/** Ends what a test has left. */
async function stop(ada: Customer): Promise<void> {
  await pressStop(world, ada)
  await settle(world, ada)
}

/** The same EC2, but its running instances look different. */
function pretend(change: (instance: CloudInstance) => CloudInstance): void {
  cloud.listPage = async (after) => {
    const page = await listPage(after)
    return { ...page, instances: page.instances.map((one) => (one.state === 'running' ? change(one) : one)) }
  }
}

const calls = (action: string, since = 0) =>
  world.ec2.calls().filter((call) => call.action === action && call.at > since)

test('looks at all servers every 20 s, confirms them, and wakes nobody', async () => {
  const [{ ada, run }, { ada: ben }] = [await pilot(), await pilot()]
  const told = world.published.length
  const since = world.clock.ms
  for (let looks = 0; looks < 4; looks++) await world.watch()
  expect(world.clock.ms - since).toBeGreaterThan(79_000)
  expect(world.clock.ms - since).toBeLessThan(81_000)
  const later = await latestRun(world, ada.user.id)
  expect(later).toEqual({ ...run, confirmedAt: later.confirmedAt })
  for (const { user } of [ada, ben]) {
    expect((await latestRun(world, user.id)).confirmedAt).toBeGreaterThan(world.clock.ms - 1_000)
    expect(world.nextAlarm(user.id)).toBeNull()
  }
  expect(calls('DescribeInstances', since)).toHaveLength(4)
  expect(world.published.length).toBe(told)
  await stop(ada)
  await stop(ben)
})

test('notices a vanished instance within a minute and wakes its user; the run ends at the last confirmed second', async () => {
  const [{ ada }, { ada: ben }] = [await pilot(), await pilot()]
  const { confirmedAt } = await latestRun(world, ada.user.id)
  world.advance(11)
  const vanished = world.clock.ms
  world.ec2.inject('terminate_instance', 1, { instance_id: aliveOf(world, ada.user.id)[0]?.instanceId ?? '' })
  await world.watch()
  await world.process.settle()
  expect(world.nextAlarm(ben.user.id)).toBeNull()
  expect(world.nextAlarm(ada.user.id)).toBeLessThanOrEqual(world.clock.ms)
  await settle(world, ada)
  const run = await latestRun(world, ada.user.id)
  expect(run.meteredUntil).toBe(confirmedAt)
  expect(run.meteredUntil).toBeLessThanOrEqual(instancesOf(world, ada.user.id)[0]?.shuttingDownAt ?? 0)
  expect(run.stopRequestedAt).toBeLessThan(vanished + 60_000)
  expect(await holders(world)).not.toContain(run.id)
  const [, stopJob] = await jobsOf(world, ada.user.id)
  expect(stopJob).toMatchObject({ kind: 'server_stop', status: 'failed', errorCode: 'instance_lost' })
  expect(sentences(world, ada).at(-1)).toMatch(
    /^Your server stopped unexpectedly\. We only count the time until we last saw it running\. You used [\dms ]+, covered by your plan\. Startup \(\d+s\) was free\.$/,
  )
  await stop(ben)
})

test('concludes nothing while EC2 does not answer; when EC2 is back, the run continues', async () => {
  const { ada, run } = await pilot()
  world.ec2.inject('RequestLimitExceeded', 3, { action: 'DescribeInstances' })
  for (let looks = 0; looks < 4; looks++) await world.watch()
  expect(inBrief(world.takeLines())).toEqual(
    Array(3).fill(['watch_failed RequestLimitExceeded', 'alarm_failed RequestLimitExceeded']).flat(),
  )
  const later = await latestRun(world, ada.user.id)
  expect(later).toEqual({ ...run, confirmedAt: later.confirmedAt })
  expect(later.confirmedAt).toBeGreaterThan(run.confirmedAt ?? 0)
  await stop(ada)
})

test("a throttled EC2 is asked less often, whatever the triggers do; the log has EC2's code", async () => {
  const { ada, run } = await pilot()
  world.random = () => 0.5
  world.ec2.inject('RequestLimitExceeded', 1_000, { action: 'DescribeInstances' })
  const begun = world.clock.ms
  for (let minute = 1; minute <= 10; minute++) {
    while ((world.nextAlarm(FLEET) ?? 0) < begun + minute * 60_000) await world.watch()
    world.clock.ms = begun + minute * 60_000
    await world.ctx.fleetWatcher.revive(FLEET, world.clock.ms)
  }
  const looks = calls('DescribeInstances', begun)
  expect(looks.length).toBeGreaterThanOrEqual(6)
  expect(looks.length).toBeLessThanOrEqual(12)
  const lines = world.takeLines().filter(({ event }) => event === 'watch_failed')
  expect(lines).toHaveLength(looks.length)
  expect(lines[0]?.error?.at(-1)).toMatchObject({ code: 'RequestLimitExceeded', requestId: expect.any(String) })
  world.random = () => 0
  world.ec2.heal()
  expect(await latestRun(world, ada.user.id)).toMatchObject({ stopRequestedAt: null, confirmedAt: run.confirmedAt })
  await stop(ada)
})

test('a wrong key ends nothing and alerts the operator', async () => {
  const { ada } = await pilot()
  world.ec2.inject('AuthFailure', 6, { action: 'DescribeInstances' })
  for (let looks = 0; looks < 6; looks++) await world.watch()
  world.takeLines()
  expect((await alertsOf(world)).matters).toContain('ec2_refused:AuthFailure')
  expect(await latestRun(world, ada.user.id)).toMatchObject({ stopRequestedAt: null, unseenLooks: 0 })
  await stop(ada)
})

test.each(['shutting-down', 'terminated', 'stopping', 'stopped'] as const)(
  'an instance that is %s is lost at once',
  async (state: InstanceState) => {
    const { ada } = await pilot()
    const { confirmedAt } = await latestRun(world, ada.user.id)
    pretend((instance) => ({ ...instance, state }))
    await world.watch()
    cloud.listPage = listPage
    expect(await latestRun(world, ada.user.id)).toMatchObject({
      stopRequestedAt: expect.any(Number),
      meteredUntil: confirmedAt,
    })
    // EC2 reports it running again, but the decision stands.
    await world.watch()
    await settle(world, ada)
    expect(await latestRun(world, ada.user.id)).toMatchObject({ meteredUntil: confirmedAt })
  },
)

test('an instance that EC2 calls pending again has not ended, and is neither confirmed nor missing', async () => {
  const { ada, run } = await pilot()
  await world.db.update(runs).set({ unseenSince: 1, unseenLooks: 2 }).where(eq(runs.id, run.id))
  pretend((instance) => ({ ...instance, state: 'pending' }))
  await world.watch()
  expect(await latestRun(world, ada.user.id)).toEqual(run)
  cloud.listPage = listPage
  await world.watch()
  expect((await latestRun(world, ada.user.id)).confirmedAt).toBeGreaterThan(run.confirmedAt ?? 0)
  await stop(ada)
})

test('a look during which a stop is accepted confirms nothing', async () => {
  const { ada } = await pilot()
  const { confirmedAt } = await latestRun(world, ada.user.id)
  cloud.listPage = async (after) => {
    const page = await listPage(after)
    await pressStop(world, ada)
    return page
  }
  await world.watch()
  expect(await latestRun(world, ada.user.id)).toMatchObject({ confirmedAt, stopRequestedAt: expect.any(Number) })
  await settle(world, ada)
})

test('a server that answered after it was listed as gone is looked at again before it counts as lost', async () => {
  const { ada, run } = await pilot()
  pretend((instance) => ({ ...instance, state: 'terminated' }))
  world.wire = async (call, effect) => {
    // Its meter starts just before the look ends it.
    if (call === 'channel: arm')
      await world.db.update(runs).set({ confirmedAt: world.clock.ms }).where(eq(runs.id, run.id))
    return effect()
  }
  await world.watch()
  expect((await latestRun(world, ada.user.id)).stopRequestedAt).toBeNull()
  world.wire = (_, effect) => effect()
  const { confirmedAt } = await latestRun(world, ada.user.id)
  await world.watch()
  expect(await latestRun(world, ada.user.id)).toMatchObject({
    stopRequestedAt: expect.any(Number),
    meteredUntil: confirmedAt,
  })
  await settle(world, ada)
})

test('never moves a confirmation back', async () => {
  const { ada, run } = await pilot()
  const later = world.clock.ms + 60_000
  await world.db.update(runs).set({ confirmedAt: later }).where(eq(runs.id, run.id))
  await world.watch()
  expect((await latestRun(world, ada.user.id)).confirmedAt).toBe(later)
  await world.db.update(runs).set({ confirmedAt: run.confirmedAt }).where(eq(runs.id, run.id))
  await stop(ada)
})

test('leaves a start alone until its machine is on', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  await world.ring(ada.user.id)
  pretend((instance) => ({ ...instance, state: 'terminated' }))
  await world.watch()
  cloud.listPage = async () => ({ instances: [], next: null })
  await world.watch()
  cloud.listPage = listPage
  expect(await latestRun(world, ada.user.id)).toMatchObject({ stopRequestedAt: null, unseenLooks: 0 })
  await stop(ada)
})

/** People whose servers run on made-up instances. */
async function crowd(count: number) {
  const now = world.clock.ms
  const ids = Array.from({ length: count }, (_, i) => `crowd-${i}-${Math.random()}`)
  const [place] = await world.db.select().from(places).limit(1)
  await writeBatch(world.db, [
    world.db.insert(users).values(ids.map((id) => ({ id, email: id, name: '', passwordHash: '', createdAt: now }))),
    world.db.insert(runs).values(
      ids.map((id) => ({
        id: `ses_${id}`,
        userId: id,
        placeId: place?.id ?? '',
        instanceType: 'g6.4xlarge',
        requestedAt: now - 60_000,
        runningAt: now - 60_000,
        billedFrom: now - 60_000,
        confirmedAt: now - 60_000,
        instanceId: `i-${id}`,
      })),
    ),
  ])
  const instances = ids.map(
    (id): CloudInstance => ({
      id: `i-${id}`,
      name: null,
      type: 'g6.4xlarge',
      state: 'running',
      privateIp: null,
      publicIp: null,
      launchTime: now,
      token: null,
      endedAt: null,
      endReason: null,
      shutItselfDown: false,
      refusal: null,
      tags: { session: `ses_${id}` },
    }),
  )
  return {
    instances,
    /** The state of this crowd's runs, without their identities. */
    rows: async () =>
      world.db
        .select({ confirmedAt: runs.confirmedAt, unseen: runs.unseenLooks, stop: runs.stopRequestedAt })
        .from(runs)
        .where(inArray(runs.userId, ids)),
    async leave() {
      await world.db.update(runs).set({ endedAt: now, stopRequestedAt: now }).where(inArray(runs.userId, ids))
    },
  }
}

const pagesOf = (pages: CloudInstance[][]): typeof listPage => {
  return async (after) => {
    const i = Number(after ?? 0)
    return { instances: pages[i] ?? [], next: i + 1 < pages.length ? String(i + 1) : null }
  }
}

test('a page of many servers takes one statement to confirm and one to look for orphans', async () => {
  const { instances, rows, leave } = await crowd(300)
  cloud.listPage = pagesOf([0, 100, 200].map((from) => instances.slice(from, from + 100)))
  const asked: string[] = []
  world.wire = async (call, effect) => {
    asked.push(call)
    return effect()
  }
  const at = world.clock.ms
  await world.watch()
  expect((await rows()).every(({ confirmedAt, unseen }) => (confirmedAt ?? 0) >= at && unseen === 0)).toBe(true)
  expect(asked.filter((call) => call.startsWith('db:')).length).toBeLessThanOrEqual(3 + 1 + 3)
  expect(asked.filter((call) => call.startsWith('channel:'))).toEqual([])
  await leave()
})

test('a page that EC2 refuses proves nothing about the servers on it; those before it are confirmed', async () => {
  const { instances, rows, leave } = await crowd(40)
  const good = pagesOf([instances.slice(0, 30), instances.slice(30)])
  cloud.listPage = (after) => (after ? listPage('no such page') : good(null))
  const at = world.clock.ms
  for (let looks = 0; looks < 5; looks++) await world.watch()
  world.takeLines()
  const seen = await rows()
  expect(seen.filter(({ confirmedAt }) => (confirmedAt ?? 0) >= at)).toHaveLength(30)
  expect(seen.filter(({ unseen, stop }) => unseen > 0 || stop !== null)).toEqual([])
  await leave()
})

test('a lost server that we cannot end now does not keep the look from the others', async () => {
  const [{ ada, run }, { ada: ben, run: unseen }] = [await pilot(), await pilot()]
  world.ec2.inject('terminate_instance', 1, { instance_id: run.instanceId ?? '' })
  cloud.listPage = async (after) => {
    const page = await listPage(after)
    return { ...page, instances: page.instances.filter(({ id }) => id !== unseen.instanceId) }
  }
  world.wire = (call, effect) => (call === 'channel: arm' ? Promise.reject(busy()) : effect())
  world.advance(1)
  await world.watch()
  expect(inBrief(world.takeLines())).toEqual(['lost_not_ended unavailable'])
  expect((await latestRun(world, ada.user.id)).stopRequestedAt).toBeNull()
  expect((await latestRun(world, ben.user.id)).unseenLooks).toBe(1)
  world.wire = (_, effect) => effect()
  cloud.listPage = listPage
  await world.watch()
  expect((await latestRun(world, ada.user.id)).stopRequestedAt).not.toBeNull()
  await settle(world, ada)
  await stop(ben)
})

test('if EC2 ends hundreds at once, we end them in portions', async () => {
  const { instances, rows, leave } = await crowd(230)
  cloud.listPage = pagesOf([instances.map((one) => ({ ...one, state: 'terminated' as const }))])
  await world.watch()
  expect((await rows()).filter(({ stop }) => stop !== null)).toHaveLength(200)
  await world.watch()
  expect((await rows()).filter(({ stop }) => stop !== null)).toHaveLength(230)
  await leave()
})

test('a process that dies before it wakes the user leaves an alarm', async () => {
  const { ada, run } = await pilot()
  world.ec2.inject('terminate_instance', 1, { instance_id: run.instanceId ?? '' })
  world.wire = async (call, effect) => {
    if (call === 'channel: wake') world.process.kill()
    return effect()
  }
  await world.watch()
  world.takeLines()
  expect((await latestRun(world, ada.user.id)).stopRequestedAt).not.toBeNull()
  expect((world.nextAlarm(ada.user.id) ?? Infinity) - world.clock.ms).toBeLessThanOrEqual(30_000)
  world.wire = (_, effect) => effect()
  if (world.process.killed) world.restart()
  await settle(world, ada)
  expect((await latestRun(world, ada.user.id)).endedAt).not.toBeNull()
})
