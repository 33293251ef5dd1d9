import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { jobs, launches, places, runs } from '../../../../db/schema/fleet.ts'
import { lineGroups } from '../../../../db/schema/line.ts'
import { warmMachines, warmSettings } from '../../../../db/schema/warm.ts'
import { AppError } from '../../../../src/domain/error.ts'
import { DAY_MS } from '../../../../src/domain/instant.ts'
import { getAllowance } from '../../../../src/server/billing/allowance.ts'
import { findAvailability } from '../../../../src/server/fleet/availability.ts'
import { giveRunKey } from '../../../../src/server/fleet/machines/run-key.ts'
import { endOrphans } from '../../../../src/server/fleet/sweep.ts'
import { awaitWork } from '../../../../src/server/fleet/warm/await-work.ts'
import { keepWarm } from '../../../../src/server/fleet/warm/keep.ts'
import { findDrift } from '../../../../src/server/operations/drift.ts'
import { repair } from '../../../../src/server/operations/repair.ts'
import { findRepairs } from '../../../../src/server/operations/restore.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'
import { freshPlaces, latestRun, newCustomer } from '../../../../testing/world/fleet.ts'
import { finishJobs, pressStart, pressStop, running, settle } from '../../../../testing/world/play.ts'
import { quietWorld } from '../../../../testing/world/quiet-world.ts'
import {
  askForWork,
  identify,
  keptWarm,
  machineContext,
  runningWarm,
  setWarmCount,
  untilWarm,
} from '../../../../testing/world/warm.ts'
import { isRead, type Mishap, wireWithMishap } from '../../../../testing/world/wire.ts'
import { onlyMishaps } from '../../../../testing/world/world.ts'

const world = await quietWorld()
const alive = () => world.ec2.instances().filter(({ state }) => state === 'running' || state === 'pending')
const calls = (action: string) => world.ec2.calls().filter((call) => call.action === action).length

/** Only these places are left, and no machine. */
async function fresh(count: number): Promise<string[]> {
  await world.db.delete(warmSettings)
  await untilWarm(world, 0)
  await world.db.update(warmMachines).set({ failedAt: null })
  const ids = await freshPlaces(world, count)
  await world.db.update(places).set({ availabilityZone: 'us-east-1a' })
  return ids
}

test('keeps none unless an operator wants some', async () => {
  await fresh(2)
  const before = world.ec2.calls().length
  await keepWarm(world.ctx)
  expect(world.ec2.calls().length).toBe(before)
})

test('a start takes a warm machine: it launches none, and the machine hears of its run after EC2 has its tags', async () => {
  const [first, last] = await fresh(2)
  await setWarmCount(world, 1)
  await untilWarm(world, 1)
  const [machine] = await keptWarm(world)
  const id = machine?.instanceId ?? ''
  // In the last place, since a start without a warm machine takes the first.
  expect([machine?.placeId, first]).toEqual([last, first])
  expect(await askForWork(world, id)).toEqual({ run: null, images: expect.any(Array), every_seconds: 2 })

  const ada = await newCustomer(world)
  const before = calls('RunInstances')
  const { run } = await pressStart(world, ada)
  expect(run).toMatchObject({ placeId: last, instanceId: id, warm: true })
  expect(await keptWarm(world)).toEqual([])
  expect(await askForWork(world, id)).toMatchObject({ run: run.id, environment: run.environment, vehicle: run.vehicle })
  const tags = () => world.ec2.instances().find(({ instanceId }) => instanceId === id)?.tags
  expect(tags()).toMatchObject({ session: run.id, user: ada.user.id, app: 'proving-ground', given: expect.any(String) })

  await finishJobs(world, ada)
  const ran = await latestRun(world, ada.user.id)
  expect(calls('RunInstances')).toBe(before)
  // Its uptime is the run's, not the machine's.
  expect(ran.runningAt).toBeGreaterThanOrEqual(run.requestedAt)
  expect(ran.billedFrom).toBeGreaterThanOrEqual(ran.runningAt ?? Infinity)
  world.advance(60)
  await pressStop(world, ada)
  await settle(world, ada)
  // EC2's earlier launch credits nobody.
  expect(await latestRun(world, ada.user.id)).toMatchObject({ shortSeconds: 0, instanceId: id })
  await expect(askForWork(world, id)).rejects.toMatchObject({ code: 'forbidden' })
})

test('who ends a warm start before it answers starts cold for an hour, as the estimate says, and a machine that ends is nobody’s', async () => {
  await fresh(4)
  await setWarmCount(world, 2)
  await untilWarm(world, 2)
  const ada = await newCustomer(world)
  const isNextWarm = async () => {
    const allowance = await getAllowance(world.ctx, ada.user.id)
    return (await findAvailability(world.ctx, ada.user.id, allowance)).candidates[0]?.warm
  }
  const begin = async () => {
    const { run } = await pressStart(world, ada)
    return [run.warm, run.toldWarm]
  }
  const stop = async () => {
    await pressStop(world, ada)
    await settle(world, ada)
  }
  expect([await isNextWarm(), await begin()]).toEqual([true, [true, true]])
  await stop()
  await untilWarm(world, 2)
  expect([await isNextWarm(), await begin()]).toEqual([false, [false, false]])
  await stop()
  await fresh(1)
  await setWarmCount(world, 1)
  world.advance(3600)
  await untilWarm(world, 1)
  expect(await isNextWarm()).toBe(true)
  await world.db.update(warmMachines).set({ endingAt: world.clock.ms })
  expect([await isNextWarm(), await begin()]).toEqual([false, [false, false]])
  await stop()
})

test('a start gets the place of a machine that is not ready last, and with it the machine', async () => {
  await fresh(1)
  await setWarmCount(world, 1)
  await keepWarm(world.ctx)
  const [machine] = await keptWarm(world)
  const ada = await newCustomer(world)
  expect(await runningWarm(world, ada)).toMatchObject({ instanceId: machine?.instanceId, warm: true })
  expect(alive()).toHaveLength(1)
  await pressStop(world, ada)
  await settle(world, ada)
})

test.each([
  ['ended', 0],
  ['was forgotten by EC2', 2 * 3600],
])('a start whose warm machine %s launches another one', async (_, seconds) => {
  await fresh(1)
  await setWarmCount(world, 1)
  await untilWarm(world, 1)
  world.ec2.inject('terminate_instance', 1, { instance_id: alive()[0]?.instanceId ?? '' })
  world.advance(seconds)
  const ada = await newCustomer(world)
  const run = await running(world, ada)
  expect([run.warm, run.billedFrom === null]).toEqual([false, false])
  expect(await world.db.select().from(launches).where(eq(launches.runId, run.id))).toHaveLength(2)
  expect(inBrief(world.takeLines())).toEqual(['alert warm_failed:us-east-1a'])
  await pressStop(world, ada)
  await settle(world, ada)
})

test.each([
  ['hangs', () => untilOldOneWaits(), 60],
  ['runs old user data, and answers with another world', async () => keepWarm(world.ctx), 180],
])('a start whose warm machine %s bills nothing of it, and launches another one', async (_, wait, seconds) => {
  await fresh(1)
  await setWarmCount(world, 1)
  await wait()
  const old = (await keptWarm(world))[0]?.instanceId
  const ada = await newCustomer(world)
  const { run } = await pressStart(world, ada)
  await finishJobs(world, ada)
  const ran = await latestRun(world, ada.user.id)
  const [first, second] = await world.db.select().from(launches).where(eq(launches.runId, run.id))
  expect([first?.instanceId, second?.instanceId]).toEqual([old, ran.instanceId])
  expect(ran).toMatchObject({ warm: false, billedFrom: expect.any(Number) })
  expect(second?.createdAt).toBeGreaterThanOrEqual((first?.createdAt ?? 0) + 60_000)
  expect(second?.createdAt).toBeLessThan(run.requestedAt + (seconds + 5) * 1_000)
  expect(alive().map(({ instanceId }) => instanceId)).toEqual([ran.instanceId])
  // It may still come to itself.
  await expect(askForWork(world, old ?? '')).rejects.toMatchObject({ code: 'forbidden' })
  expect(inBrief(world.takeLines())).toEqual([expect.stringMatching(/^alert warm_failed:us-east-1a/)])
  await pressStop(world, ada)
  await settle(world, ada)
})

test('a hung machine is going before its place gets another one, or for 90 s; meanwhile it gets no run', async () => {
  const busy = () => Promise.reject(new AppError('unavailable', 'EC2 is busy.'))
  for (const [asks, isGoing] of [
    [1, true],
    [Infinity, false],
  ] as const) {
    await fresh(1)
    await setWarmCount(world, 1)
    await untilOldOneWaits()
    const id = alive()[0]?.instanceId ?? ''
    const old = () => world.ec2.instances().find(({ instanceId }) => instanceId === id)
    const ada = await newCustomer(world)
    const { run } = await pressStart(world, ada)
    let asked = 0
    const beside: unknown[] = []
    world.wire = async (call, effect) => {
      if (call === 'ec2: launch') beside.push(old()?.state)
      if (call !== 'ec2: terminate' || ++asked > asks) return effect()
      await expect(askForWork(world, id)).rejects.toMatchObject({ code: 'forbidden' })
      return busy()
    }
    await finishJobs(world, ada)
    world.wire = (_, effect) => effect()
    const ran = await latestRun(world, ada.user.id)
    expect(ran).toMatchObject({ warm: false, billedFrom: expect.any(Number) })
    expect(beside).toEqual([isGoing ? expect.stringMatching(/shutting-down|terminated/) : 'running'])
    const [, second] = await world.db.select().from(launches).where(eq(launches.runId, run.id))
    const waited = ((second?.createdAt ?? 0) - run.requestedAt) / 1_000 - 60
    expect(waited).toBeGreaterThanOrEqual(isGoing ? 2 : 90)
    expect(waited).toBeLessThan(isGoing ? 10 : 140)
    await endOrphans(world.ctx, (await world.ctx.cloud.listPage(null)).instances)
    expect(alive().map(({ instanceId }) => instanceId)).toEqual([ran.instanceId])
    await pressStop(world, ada)
    await settle(world, ada)
    world.takeLines()
  }
})

test('counts machines that starts gave up until a start gets one, and those that went silent or ended until one is ready', async () => {
  await fresh(1)
  await setWarmCount(world, 1)
  const refused = Object.assign(new Error('No.'), { name: 'UnauthorizedOperation' })
  const start = async () => {
    const ada = await newCustomer(world)
    const { run } = await pressStart(world, ada)
    await askForWork(world, run.instanceId ?? '').catch(() => {})
    await finishJobs(world, ada)
    await pressStop(world, ada)
    await settle(world, ada)
  }
  /** @returns after how many minutes the keeper launches the next one */
  const minutes = async () => {
    const before = calls('RunInstances')
    for (let minute = 0; minute < 90; minute++) {
      await keepWarm(world.ctx)
      if (calls('RunInstances') > before) return minute
      world.advance(60)
    }
    return null
  }
  const alerts = () => new Set(inBrief(world.takeLines()))
  world.wire = (call, effect) =>
    call === 'ec2: tag' ? Promise.reject(new AppError('provider_failed', 'No.', { cause: refused })) : effect()
  const waits: (number | null)[] = []
  for (let times = 0; times < 2; times++) {
    await untilWarm(world, 1)
    await start()
    waits.push(await minutes())
  }
  expect(alerts()).toEqual(new Set(['alert ec2_refused:UnauthorizedOperation', 'alert warm_failed:us-east-1a']))
  world.wire = (_, effect) => effect()
  await untilWarm(world, 1)
  await start()
  waits.push(await minutes())
  await untilWarm(world, 1)
  world.advance(6 * 60)
  waits.push(await minutes())
  expect(alerts()).toEqual(new Set(['alert warm_failed:us-east-1a']))
  await untilWarm(world, 1)
  world.ec2.inject('terminate_instance', 1, { instance_id: alive()[0]?.instanceId ?? '' })
  waits.push(await minutes())
  expect(waits).toEqual([5, 10, 0, 5, 5])
  expect(alerts()).toEqual(new Set(['alert warm_failed:us-east-1a']))
  await setWarmCount(world, 0)
})

test('whoever is faster has a warm machine: its run, or the start that gives it up', async () => {
  await fresh(1)
  await setWarmCount(world, 1)
  await untilWarm(world, 1)
  const ada = await newCustomer(world)
  const { run } = await pressStart(world, ada)
  const [launch] = await world.db.select().from(launches).where(eq(launches.runId, run.id))
  world.advance(181)
  const [job] = await world.db.select().from(jobs).where(eq(jobs.runId, run.id))
  await askForWork(world, run.instanceId ?? '')
  // Its step read the run before that.
  const instance = await world.ctx.cloud.findInstance(run.instanceId ?? '')
  if (!job || !launch || !instance) throw new Error('nothing to do')
  const untagged = { ...instance, tags: {} }
  await awaitWork({ ctx: world.ctx, job, run, report: async () => {} }, launch, untagged)
  expect(await latestRun(world, ada.user.id)).toMatchObject({ warm: true, instanceId: run.instanceId })
  await finishJobs(world, ada)
  expect(await latestRun(world, ada.user.id)).toMatchObject({
    instanceId: run.instanceId,
    billedFrom: expect.any(Number),
  })
  expect(alive()).toHaveLength(1)
  await pressStop(world, ada)
  await settle(world, ada)
})

test('a machine that asks while EC2 fails gets its run as soon as EC2 answers, and so often', async () => {
  await fresh(1)
  await setWarmCount(world, 1)
  await untilWarm(world, 1)
  const ada = await newCustomer(world)
  const { run } = await pressStart(world, ada)
  world.wire = (call, effect) =>
    call === 'ec2: tag' ? Promise.reject(new AppError('unavailable', 'EC2 is busy.')) : effect()
  for (let times = 0; times < 130; times++)
    await expect(askForWork(world, run.instanceId ?? '')).rejects.toMatchObject({ code: 'unavailable' })
  world.wire = (_, effect) => effect()
  const tagged = calls('CreateTags')
  for (let times = 0; times < 3; times++)
    expect(await askForWork(world, run.instanceId ?? '')).toMatchObject({ run: run.id })
  expect(calls('CreateTags') - tagged).toBe(1)
  await finishJobs(world, ada)
  await pressStop(world, ada)
  await settle(world, ada)
})

test("after a restore, a start doesn't get the machine that became another account's, nor that machine its secrets", async () => {
  await fresh(2)
  await setWarmCount(world, 1)
  await untilWarm(world, 1)
  const backup = await keptWarm(world)
  const ada = await newCustomer(world)
  const hers = await runningWarm(world, ada)
  await forgetRun(hers.id)
  await world.db.insert(warmMachines).values(backup.map((machine) => ({ ...machine, askedAt: world.clock.ms })))

  const bob = await newCustomer(world)
  const { run } = await pressStart(world, bob)
  const machine = run.instanceId ?? ''
  expect([run.warm, machine]).toEqual([true, hers.instanceId])
  const identity = await identify(world, machine)
  for (const call of [() => askForWork(world, machine), () => giveRunKey(machineContext(world), identity, null)])
    await expect(call()).rejects.toMatchObject({ code: 'forbidden' })
  await finishJobs(world, bob)
  const his = await latestRun(world, bob.user.id)
  expect(his).toMatchObject({ warm: false, billedFrom: expect.any(Number) })
  const found = alive().find(({ instanceId }) => instanceId === machine)
  expect([found?.tags.session, his.instanceId === machine]).toEqual([hers.id, false])
  await pressStop(world, bob)
  await settle(world, bob)
  await world.ctx.cloud.terminate(machine)
  world.advance(60)
  world.takeLines()
})

test('a restore leaves a start alone whose warm machine has no tags yet, and a start knows its machine by them', async () => {
  await fresh(1)
  await setWarmCount(world, 1)
  await untilWarm(world, 1)
  const ada = await newCustomer(world)
  const { run } = await pressStart(world, ada)
  const hand = { db: world.db, now: () => world.clock.ms, cloud: world.ctx.cloud }
  const { repairs } = await findRepairs(hand, 0, 'us-east-1')
  expect(repairs.filter(({ instanceId }) => instanceId === run.instanceId)).toEqual([])
  await askForWork(world, run.instanceId ?? '')
  // The backup is older than that.
  await world.db.update(runs).set({ workGivenAt: null }).where(eq(runs.id, run.id))
  await finishJobs(world, ada)
  expect(await latestRun(world, ada.user.id)).toMatchObject({
    instanceId: run.instanceId,
    billedFrom: expect.any(Number),
  })
  await pressStop(world, ada)
  await settle(world, ada)
})

test('a machine in a place that is held back for a group is warm for nobody else, and ends if it hangs', async () => {
  await fresh(1)
  await setWarmCount(world, 1)
  await untilWarm(world, 1)
  const at = world.clock.ms
  const group = { id: 'grp_warm', name: 'Cup', gpus: 1, places: 1, startsAt: at, endsAt: at + DAY_MS, madeAt: at }
  await world.db.insert(lineGroups).values(group)
  const ada = await newCustomer(world)
  const allowance = await getAllowance(world.ctx, ada.user.id)
  const { candidates } = await findAvailability(world.ctx, ada.user.id, allowance)
  expect(candidates.filter(({ available, warm }) => available || warm)).toEqual([])
  world.advance(6 * 60)
  await keepWarm(world.ctx)
  expect(alive()).toEqual([])
  expect(inBrief(world.takeLines())).toEqual(['alert warm_failed:us-east-1a'])
  await world.db.delete(lineGroups).where(eq(lineGroups.id, group.id))
  await setWarmCount(world, 0)
})

test('ends what is too many, and nobody gets the place before the machine is gone', async () => {
  await fresh(1)
  await setWarmCount(world, 1)
  await untilWarm(world, 1)
  await setWarmCount(world, 0)
  await keepWarm(world.ctx)
  const ada = await newCustomer(world)
  await expect(pressStart(world, ada)).rejects.toMatchObject({ code: 'no_capacity' })
  world.advance(60)
  await keepWarm(world.ctx)
  expect([alive(), await keptWarm(world)]).toEqual([[], []])
  await running(world, ada)
  await pressStop(world, ada)
  await settle(world, ada)
})

test('a start that takes a launch EC2 never heard of is an ordinary one', async () => {
  await fresh(1)
  await setWarmCount(world, 1)
  const launch = async () => {
    throw new Error('The Worker ended.')
  }
  await keepWarm({ ...world.ctx, cloud: { ...world.ctx.cloud, launch } })
  expect(inBrief(world.takeLines())).toEqual(['warm_machine_failed'])
  expect(await keptWarm(world)).toMatchObject([{ instanceId: null }])
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  await finishJobs(world, ada)
  expect(await latestRun(world, ada.user.id)).toMatchObject({ warm: false, billedFrom: expect.any(Number) })
  expect(alive()).toHaveLength(1)
  await pressStop(world, ada)
  await settle(world, ada)
})

test('a machine whose template version nobody knows yet is not old', async () => {
  await fresh(2)
  await setWarmCount(world, 1)
  await untilWarm(world, 1)
  const [before] = await keptWarm(world)
  await world.db.update(warmMachines).set({ templateVersion: null })
  await keepWarm(world.ctx)
  expect(await keptWarm(world)).toMatchObject([before])
})

test.each([
  ['a day old', () => world.advance(DAY_MS / 1000)],
  ['older than the launch template', () => world.ec2.newTemplateVersion()],
])('replaces machines that are %s, one at a time', async (_, age) => {
  await fresh(4)
  await setWarmCount(world, 2)
  await untilWarm(world, 2)
  const old = new Set((await keptWarm(world)).map(({ token }) => token))
  age()
  for (let passes = 0; passes < 30; passes++) {
    for (const { instanceId } of await keptWarm(world))
      if (instanceId) await askForWork(world, instanceId).catch(() => {})
    const waiting = (await keptWarm(world)).filter(({ readyAt, endingAt }) => readyAt !== null && endingAt === null)
    expect(waiting.length).toBeGreaterThanOrEqual(1)
    await keepWarm(world.ctx)
    world.advance(20)
  }
  const now = await keptWarm(world)
  expect([now.length, now.filter(({ token }) => old.has(token))]).toEqual([2, []])
})

test('a machine that never gets ready is replaced, and the operator hears of it', async () => {
  await fresh(1)
  await setWarmCount(world, 1)
  await keepWarm(world.ctx)
  world.advance(46 * 60)
  await keepWarm(world.ctx)
  expect(inBrief(world.takeLines())).toEqual([expect.stringMatching(/^alert warm_failed:us-east-1a/)])
  await setWarmCount(world, 0)
})

test('after machines that end before they are ready, tries one at a time, less and less often, until one is ready', async () => {
  await fresh(2)
  await setWarmCount(world, 2)
  const launched = async (minutes: number) => {
    const before = calls('RunInstances')
    for (let minute = 0; minute < minutes; minute++) {
      await keepWarm(world.ctx)
      for (const { instanceId } of alive()) world.ec2.inject('terminate_instance', 1, { instance_id: instanceId })
      world.advance(60)
    }
    return calls('RunInstances') - before
  }
  expect([await launched(10), await launched(60), await launched(240)]).toEqual([2, 3, 6])
  expect(new Set(inBrief(world.takeLines()))).toEqual(new Set([expect.stringMatching(/^alert warm_failed:us-east-1a/)]))
  await untilWarm(world, 2)
  await setWarmCount(world, 0)
})

test('keeps none in a drained place, none where EC2 refuses, and what waits is no drift', async () => {
  await fresh(1)
  await setWarmCount(world, 1)
  await untilWarm(world, 1)
  expect((await findDrift(world.ctx)).instances).toEqual([])
  await world.db.update(places).set({ setAsideUntil: Number.MAX_SAFE_INTEGER })
  await untilWarm(world, 0)
  await world.db.update(places).set({ setAsideUntil: 0 })
  world.ec2.inject('InsufficientInstanceCapacity', 1)
  await keepWarm(world.ctx)
  expect(inBrief(world.takeLines())).toEqual([expect.stringMatching(/^alert launch_refused/)])
  expect([alive(), await keptWarm(world)]).toEqual([[], []])
  await world.db.update(places).set({ setAsideUntil: 0 })
})

test('a restore gives a taken machine back from when its run got it, and ends a waiting one that nobody knows', async () => {
  await fresh(2)
  await setWarmCount(world, 2)
  await untilWarm(world, 2)
  world.advance(7_200)
  for (const { instanceId } of await keptWarm(world)) await askForWork(world, instanceId ?? '')
  const backup = await keptWarm(world)
  const ada = await newCustomer(world)
  const { run } = await pressStart(world, ada)
  await askForWork(world, run.instanceId ?? '')
  // The database is again as it was before the start, and one machine was launched after that.
  await forgetRun(run.id)
  await world.db.delete(warmMachines)
  await world.db.insert(warmMachines).values(backup.filter(({ instanceId }) => instanceId === run.instanceId))
  const hand = { db: world.db, now: () => world.clock.ms, cloud: world.ctx.cloud }
  const { repairs, doubts, doubted } = await findRepairs(hand, 0, 'us-east-1')
  expect(repairs.map(({ what }) => what).sort()).toEqual(['adopt', 'end_instance'])
  // That is half of what runs. It may belong to another stage, so an operator must name it.
  const unknown = repairs.find(({ what }) => what === 'end_instance')?.instanceId
  expect([doubts.join(), doubted]).toEqual([expect.stringContaining('1 of the 2 instances'), [unknown]])
  for (const one of repairs) await repair(hand, one)
  expect((await latestRun(world, ada.user.id)).requestedAt).toBe(run.requestedAt)
  expect(await keptWarm(world)).toEqual([])
  await setWarmCount(world, 0)
  await finishJobs(world, ada)
  await pressStop(world, ada)
  await settle(world, ada)
})

/** Ada's, of which the database knows no more than that it waits: it serves before it was repaired. */
async function forgottenMachine() {
  await fresh(1)
  await setWarmCount(world, 1)
  await untilWarm(world, 1)
  const backup = await keptWarm(world)
  const hers = await runningWarm(world, await newCustomer(world))
  await forgetRun(hers.id)
  await world.db.insert(warmMachines).values(backup.map((machine) => ({ ...machine, askedAt: world.clock.ms })))
  return { id: hers.instanceId ?? '', isAlive: () => alive().some(({ instanceId }) => instanceId === hers.instanceId) }
}

test.each([true, false])(
  "after a restore, a start that is canceled at once, and an end, leave the machine that became somebody else's (ID known: %s)",
  async (isKnown) => {
    const taken = await forgottenMachine()
    if (!isKnown) await world.db.update(warmMachines).set({ instanceId: null })
    const bob = await newCustomer(world)
    expect((await pressStart(world, bob)).run.instanceId).toBe(isKnown ? taken.id : null)
    await pressStop(world, bob)
    await settle(world, bob)
    world.advance(60)
    await endOrphans(world.ctx, (await world.ctx.cloud.listPage(null)).instances)
    expect(taken.isAlive()).toBe(true)
    await world.ctx.cloud.terminate(taken.id)

    const kept = await forgottenMachine()
    // It says nothing to us, and EC2 is busy when the keeper first looks.
    world.advance(6 * 60)
    let looks = 0
    world.wire = (call, effect) =>
      call === 'ec2: find instance' && looks++ === 0
        ? Promise.reject(new AppError('unavailable', 'EC2 is busy.'))
        : effect()
    await keepWarm(world.ctx)
    world.wire = (_, effect) => effect()
    expect(looks).toBeGreaterThan(1)
    expect(kept.isAlive()).toBe(true)
    const [place] = await world.db.select().from(places).where(eq(places.availabilityZone, 'us-east-1a'))
    expect(place?.reservedBy ?? '').not.toMatch(/^warm_.*/)
    await world.ctx.cloud.terminate(kept.id)
    await setWarmCount(world, 0)
    await untilWarm(world, 0)
    world.takeLines()
  },
)

test('a machine whose run was stopped gets no tags, however often it asks', async () => {
  await fresh(1)
  await setWarmCount(world, 1)
  await untilWarm(world, 1)
  const ada = await newCustomer(world)
  const { run } = await pressStart(world, ada)
  await world.db.update(runs).set({ stopRequestedAt: world.clock.ms }).where(eq(runs.id, run.id))
  const before = world.ec2.calls().length
  await expect(askForWork(world, run.instanceId ?? '')).rejects.toMatchObject({ code: 'forbidden' })
  expect(world.ec2.calls().length).toBe(before)
  await world.db.update(runs).set({ stopRequestedAt: null }).where(eq(runs.id, run.id))
  await pressStop(world, ada)
  await settle(world, ada)
})

test('ends a machine in a place that a run has without it, and leaves the place to the run', async () => {
  const [id = ''] = await fresh(1)
  await setWarmCount(world, 1)
  await untilWarm(world, 1)
  // As an older version does.
  await world.db.update(places).set({ reservedBy: 'ses_older' }).where(eq(places.id, id))
  for (let passes = 0; passes < 4; passes++) {
    await keepWarm(world.ctx)
    world.advance(60)
  }
  expect([alive(), await keptWarm(world)]).toEqual([[], []])
  expect((await world.db.select().from(places).where(eq(places.id, id)))[0]?.reservedBy).toBe('ses_older')
  await world.db.update(places).set({ reservedBy: null }).where(eq(places.id, id))
})

async function untilOldOneWaits(): Promise<void> {
  await untilWarm(world, 1)
  world.advance(120)
  await untilWarm(world, 1)
}

/** As in a backup that is older than the run. */
async function forgetRun(id: string): Promise<void> {
  await world.db.update(places).set({ reservedBy: null }).where(eq(places.reservedBy, id))
  for (const table of [jobs, launches]) await world.db.delete(table).where(eq(table.runId, id))
  await world.db.delete(runs).where(eq(runs.id, id))
}

/** One pass that launches one, ends one, and looks at one. */
async function passes(mishap: Mishap, n: number): Promise<number> {
  const about = `${mishap} call ${n}`
  await fresh(3)
  await setWarmCount(world, 1)
  await untilWarm(world, 1)
  const { wire, calls } = wireWithMishap(mishap, n, (call) => !isRead(call))
  world.wire = wire
  for (const count of [2, 0]) {
    await setWarmCount(world, count)
    await keepWarm(world.ctx).catch(onlyMishaps)
    if (world.process.killed) world.restart()
    world.advance(30)
  }
  world.wire = (_, effect) => effect()
  await untilWarm(world, 0)
  await endOrphans(world.ctx, (await world.ctx.cloud.listPage(null)).instances)
  world.advance(10)
  world.takeLines()
  expect(alive(), about).toEqual([])
  const [held] = await world.db
    .select()
    .from(places)
    .where(eq(places.reservedBy, (await world.db.select().from(warmMachines)).at(-1)?.token ?? ''))
  expect(held, about).toBeUndefined()
  return calls.length
}

test.each<[Mishap]>([['cut before'], ['cut after'], ['lost before'], ['lost after']])(
  '%s any call of a pass leaves no machine that nobody owns',
  async (mishap) => {
    const count = await passes(mishap, Infinity)
    expect(count).toBeGreaterThan(5)
    for (let n = 1; n <= count; n++) await passes(mishap, n)
  },
)
