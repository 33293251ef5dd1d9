import { eq, inArray } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { launches, runs } from '../../../../db/schema/fleet.ts'
import { ec2Cloud } from '../../../../src/server/fleet/ec2.ts'
import type { CloudInstance } from '../../../../src/server/ports/cloud.ts'
import { FLEET } from '../../../../src/server/ports/objects.ts'
import { alertsOf } from '../../../../testing/stack/operator.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'
import {
  aliveOf,
  type Customer,
  freshPlaces,
  holders,
  instancesOf,
  jobsOf,
  latestRun,
  newCustomer,
} from '../../../../testing/world/fleet.ts'
import { finishJobs, pressStart, pressStop, running, settle } from '../../../../testing/world/play.ts'
import { quietWorld } from '../../../../testing/world/quiet-world.ts'

const world = await quietWorld()
const people: Customer[] = []

/** People with one running server each, gone again after their test. */
async function runningPeople(count: number): Promise<Customer[]> {
  await freshPlaces(world, count)
  for (let i = 0; i < count; i++) {
    const person = await newCustomer(world)
    people.push(person)
    await running(world, person)
    await settle(world, person)
  }
  return people.slice(-count)
}

afterEach(async () => {
  for (const person of people.splice(0)) {
    const run = await latestRun(world, person.user.id)
    if (run.endedAt === null) await pressStop(world, person).catch(() => {})
    await settle(world, person)
  }
})

const lookFails = (code: string, times: number) => world.ec2.inject(code, times, { action: 'DescribeInstances' })

/** The EC2 of another region, which knows none of ours. @returns a function that restores the right one */
function moveToWrongRegion(): () => void {
  const right = { ...world.ctx.cloud }
  const wrong = ec2Cloud({
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    EC2_LAUNCH_TEMPLATE: 'proving-ground',
    EC2_ENDPOINT: world.ec2.endpoint,
  })
  Object.assign(world.ctx.cloud, wrong)
  return () => Object.assign(world.ctx.cloud, right)
}

/** For now, EC2 doesn't list these, and lists strangers'. @returns a function that restores everything */
function hide(hidden: Set<string>, strangers: CloudInstance[] = []): () => void {
  const { listPage } = world.ctx.cloud
  world.ctx.cloud.listPage = async (after) => {
    const page = await listPage(after)
    return { ...page, instances: [...page.instances.filter(({ id }) => !hidden.has(id)), ...strangers] }
  }
  return () => {
    world.ctx.cloud.listPage = listPage
  }
}

const instanceOf = async ({ user }: Customer) => (await latestRun(world, user.id)).instanceId ?? ''

/** Looks at the fleet, and rings each of their alarms due in that time, in order. */
async function live(customers: Customer[], seconds: number): Promise<void> {
  const end = world.clock.ms + seconds * 1000
  for (;;) {
    const next = [FLEET, ...customers.map(({ user }) => user.id)]
      .map((id) => ({ id, at: world.nextAlarm(id) ?? Number.POSITIVE_INFINITY }))
      .sort((a, b) => a.at - b.at)[0]
    if (!next || next.at > end) break
    await world.ring(next.id)
  }
  world.clock.ms = Math.max(world.clock.ms, end)
}

test('a look that misses a running server ends nothing, and the next that finds it resets the count', async () => {
  const [ada] = (await runningPeople(1)) as [Customer]
  const restore = hide(new Set([await instanceOf(ada)]))
  await world.watch()
  expect(await latestRun(world, ada.user.id)).toMatchObject({ unseenLooks: 1, stopRequestedAt: null })
  restore()
  await world.watch()
  const run = await latestRun(world, ada.user.id)
  expect(run).toMatchObject({ unseenSince: null, unseenLooks: 0, stopRequestedAt: null })
  expect(run.confirmedAt).toBeGreaterThan(world.clock.ms - 1_000)
  // The count starts over: four more misses within 90 s of the first are not enough.
  const restoreAgain = hide(new Set([await instanceOf(ada)]))
  for (let looks = 0; looks < 4; looks++) await world.watch()
  restoreAgain()
  await world.watch()
  expect(await latestRun(world, ada.user.id)).toMatchObject({ unseenLooks: 0, stopRequestedAt: null })
  expect(aliveOf(world, ada.user.id)).toHaveLength(1)
})

test('a server missing for 90 s in at least three looks is noticed at once, then lost, and metered until last seen', async () => {
  const [ada] = (await runningPeople(1)) as [Customer]
  await world.watch()
  const { confirmedAt } = await latestRun(world, ada.user.id)
  const restore = hide(new Set([await instanceOf(ada)]))
  const gone = world.clock.ms
  await world.watch()
  const firstMiss = world.clock.ms
  expect((await latestRun(world, ada.user.id)).unseenSince).toBeLessThan(gone + 60_000)
  while ((await latestRun(world, ada.user.id)).stopRequestedAt === null && world.clock.ms < firstMiss + 200_000)
    await world.watch()
  expect(world.clock.ms - firstMiss).toBeGreaterThanOrEqual(90_000)
  expect(world.clock.ms - firstMiss).toBeLessThan(112_000)
  expect((await latestRun(world, ada.user.id)).unseenLooks).toBe(6)
  restore()
  // EC2 finds it again at the stop, but the decision stands, to the second.
  await world.watch()
  await settle(world, ada)
  expect(await latestRun(world, ada.user.id)).toMatchObject({ meteredUntil: confirmedAt })
  expect((await jobsOf(world, ada.user.id)).at(-1)).toMatchObject({ errorCode: 'instance_lost' })
  expect(aliveOf(world, ada.user.id)).toEqual([])
  expect((await alertsOf(world)).matters).not.toContain('instances_unseen')
})

test('two misses are not enough, however far apart', async () => {
  const [ada] = (await runningPeople(1)) as [Customer]
  const restore = hide(new Set([await instanceOf(ada)]))
  await world.watch()
  world.advance(300)
  await world.watch()
  restore()
  expect(await latestRun(world, ada.user.id)).toMatchObject({ unseenLooks: 2, stopRequestedAt: null })
  await world.watch()
})

test('a wrong region ends nothing, neither running nor stopping servers, and alerts the operator once', async () => {
  const customers = await runningPeople(4)
  const [ada, ben] = customers as [Customer, Customer]
  const right = moveToWrongRegion()
  await world.watch()
  await live(customers, 20)
  await pressStop(world, ben)
  const stopped = (await latestRun(world, ben.user.id)).meteredUntil
  await live(customers, 400)
  for (const { user } of customers) {
    expect(aliveOf(world, user.id)).toHaveLength(1)
    expect((await latestRun(world, user.id)).endedAt).toBeNull()
    expect(await holders(world)).toContain((await latestRun(world, user.id)).id)
  }
  expect((await latestRun(world, ada.user.id)).stopRequestedAt).toBeNull()
  expect(await alertsOf(world)).toEqual({
    matters: ['instances_unseen'],
    mails: ["EC2 can't find 4 of 4 servers"],
  })
  expect(world.takeLines().filter(({ matter }) => matter === 'instances_unseen').length).toBeGreaterThan(1)

  right()
  await live(customers, 60)
  expect((await latestRun(world, ada.user.id)).confirmedAt).toBeGreaterThan(world.clock.ms - 31_000)
  // Now the stop is carried out. Its meter ended when it was accepted, because the instance did run until then.
  expect(await latestRun(world, ben.user.id)).toMatchObject({ meteredUntil: stopped, endedAt: expect.any(Number) })
  expect(aliveOf(world, ben.user.id)).toEqual([])
})

/** Live runs of people who aren't here. @returns their ids, and their instances as EC2 lists them */
async function seenByOthers(count: number) {
  const ids: string[] = []
  const instances: CloudInstance[] = []
  const [like] = (await world.ctx.cloud.listPage(null)).instances
  for (let i = 0; i < count; i++) {
    const person = await newCustomer(world, { secondsUsed: 1 })
    const { id } = await latestRun(world, person.user.id)
    ids.push(id)
    instances.push({ ...(like as CloudInstance), id: `i-${i}`, state: 'running', token: null, tags: { session: id } })
    await world.db
      .update(runs)
      .set({ endedAt: null, stopRequestedAt: null, meteredUntil: null, instanceId: `i-${i}` })
      .where(eq(runs.id, id))
  }
  return { ids, instances }
}

test('four of thirty missing at once are too many to declare lost; three are not', async () => {
  const customers = await runningPeople(4)
  const bystanders = await seenByOthers(26)
  const hidden = new Set<string>()
  const restore = hide(hidden, bystanders.instances)
  const [found, ...lost] = customers as [Customer, ...Customer[]]
  for (const one of [found, ...lost]) hidden.add(await instanceOf(one))
  await world.watch()
  await live(customers, 130)
  for (const { user } of customers) expect((await latestRun(world, user.id)).stopRequestedAt).toBeNull()
  expect(new Set(inBrief(world.takeLines()))).toEqual(new Set(['alert instances_unseen']))
  hidden.delete(await instanceOf(found))
  await live(customers, 70)
  for (const { user } of lost) expect((await latestRun(world, user.id)).stopRequestedAt).not.toBeNull()
  expect((await latestRun(world, found.user.id)).stopRequestedAt).toBeNull()
  restore()
  const now = world.clock.ms
  await world.db.update(runs).set({ stopRequestedAt: now, endedAt: now }).where(inArray(runs.id, bystanders.ids))
})

test('a stop of a server that EC2 misses for a moment frees nothing until it is gone', async () => {
  const [ada] = (await runningPeople(1)) as [Customer]
  world.advance(10)
  const { run } = await pressStop(world, ada)
  lookFails('InvalidInstanceID.NotFound', 3)
  for (let looks = 0; looks < 3; looks++) {
    await world.ring(ada.user.id)
    expect((await latestRun(world, ada.user.id)).endedAt).toBeNull()
  }
  expect(aliveOf(world, ada.user.id)).toHaveLength(1)
  await settle(world, ada)
  expect((await latestRun(world, ada.user.id)).meteredUntil).toBe(run.meteredUntil)
  expect(aliveOf(world, ada.user.id)).toEqual([])
})

test('an instance that EC2 misses while terminating it is not gone yet', async () => {
  const [ada] = (await runningPeople(1)) as [Customer]
  world.advance(3_600)
  await live([ada], 1)
  await pressStop(world, ada)
  await world.ring(ada.user.id)
  expect(world.ec2.calls().at(-1)).toMatchObject({ action: 'TerminateInstances' })
  lookFails('InvalidInstanceID.NotFound', 2)
  await world.ring(ada.user.id)
  await world.ring(ada.user.id)
  const run = await latestRun(world, ada.user.id)
  expect(run).toMatchObject({ endedAt: null, unseenLooks: 2 })
  expect(await world.db.select().from(launches).where(eq(launches.runId, run.id))).toMatchObject([
    { outcome: 'launched' },
  ])
  expect(await holders(world)).toContain(run.id)
})

test('stops that EC2 has agreed to end, however many instances it has forgotten meanwhile', async () => {
  const customers = await runningPeople(3)
  for (const ada of customers) {
    await pressStop(world, ada)
    await world.ring(ada.user.id)
  }
  // Our platform was down for longer than EC2 remembers a terminated instance.
  world.advance(3 * 3_600)
  await live(customers, 200)
  for (const ada of customers) {
    expect((await latestRun(world, ada.user.id)).endedAt).not.toBeNull()
    expect(aliveOf(world, ada.user.id)).toEqual([])
  }
})

test('an instance that EC2 does not know when asked to terminate it may still run', async () => {
  const [ada] = (await runningPeople(1)) as [Customer]
  const right = moveToWrongRegion()
  await pressStop(world, ada)
  await world.ring(ada.user.id)
  const { id } = await latestRun(world, ada.user.id)
  expect(await world.db.select().from(launches).where(eq(launches.runId, id))).toMatchObject([
    { terminateAskedAt: null, outcome: 'launched' },
  ])
  right()
  await settle(world, ada)
  expect(aliveOf(world, ada.user.id)).toEqual([])
})

test('a start whose instance is missing for 90 s fails, and is ended if EC2 shows it later', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  const begun = world.clock.ms
  await world.ring(ada.user.id)
  lookFails('InvalidInstanceID.NotFound', 20)
  await world.ringUntil(ada.user.id, async () => (await jobsOf(world, ada.user.id))[0]?.errorCode != null, 30)
  expect(world.clock.ms - begun).toBeGreaterThanOrEqual(90_000)
  expect(world.clock.ms - begun).toBeLessThan(110_000)
  await finishJobs(world, ada)
  expect(await jobsOf(world, ada.user.id)).toMatchObject([{ status: 'failed', errorCode: 'instance_lost' }])
  expect(instancesOf(world, ada.user.id)).toMatchObject([{ shuttingDownAt: expect.any(Number) }])
})
