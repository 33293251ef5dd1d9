import { expect, test } from 'vitest'
import { launches } from '../../../db/schema/fleet.ts'
import { endOrphans, reviveWatcher, wakeOverdue } from '../../../src/server/fleet/sweep.ts'
import { FLEET } from '../../../src/server/ports/objects.ts'
import { inBrief } from '../../../testing/stack/recorded-log.ts'
import { aliveOf, freshPlaces, jobsOf, latestRun, newCustomer } from '../../../testing/world/fleet.ts'
import { finishJobs, pressStart, pressStop, running, settle } from '../../../testing/world/play.ts'
import { quietWorld } from '../../../testing/world/quiet-world.ts'

const world = await quietWorld()
/** We tell the operator about each orphan once. */
const takeAlert = () => expect(inBrief(world.takeLines())).toEqual([expect.stringMatching(/^alert orphan:i-/)])
const { cloud } = world.ctx

const launch = (token: string, tags: Record<string, string>) =>
  cloud.launch({ token, instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1a', tags })

/** What a look at the fleet does with the orphans it has found. */
const sweep = async () => endOrphans(world.ctx, (await cloud.listPage(null)).instances)

test('wakes a channel that lost its alarm while a job is due', async () => {
  await freshPlaces(world, 1)
  const starting = await newCustomer(world)
  await pressStart(world, starting)
  world.kept(starting.user.id).alarm = null
  await wakeOverdue(world.ctx)
  expect(world.nextAlarm(starting.user.id)).toBeNull()
  world.advance(6)
  await wakeOverdue(world.ctx)
  await finishJobs(world, starting)
  expect(await jobsOf(world, starting.user.id)).toMatchObject([{ status: 'succeeded' }])
  await pressStop(world, starting)
  await settle(world, starting)
})

test('starts the watcher, and starts it again if its alarm was lost', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  for (let times = 0; times < 2; times++) {
    world.kept(FLEET).alarm = null
    world.advance(60)
    await reviveWatcher(world.ctx)
    await world.ring(FLEET)
    expect((await latestRun(world, ada.user.id)).confirmedAt).toBeGreaterThan(world.clock.ms - 1_000)
  }
  const alarm = world.nextAlarm(FLEET)
  await reviveWatcher(world.ctx)
  expect(world.nextAlarm(FLEET)).toBe(alarm)
  await pressStop(world, ada)
  await settle(world, ada)
})

test('does not wake what is on time, idle or over', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  await settle(world, ada)
  world.advance(3_600)
  await wakeOverdue(world.ctx)
  expect(world.nextAlarm(ada.user.id)).toBeNull()
  await pressStop(world, ada)
  await settle(world, ada)
  world.advance(3_600)
  await wakeOverdue(world.ctx)
  expect(world.nextAlarm(ada.user.id)).toBeNull()
})

test('wakes a channel that lost its alarm when its trial has five minutes left, and when it is over', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { demo: true, secondsUsed: 22 * 60 })
  const end = (await running(world, ada)).mustStopAt ?? 0
  await world.ring(ada.user.id)
  for (const due of [end - 5 * 60_000, end]) {
    world.kept(ada.user.id).alarm = null
    world.clock.ms = due - 500
    await wakeOverdue(world.ctx)
    expect(world.nextAlarm(ada.user.id)).toBeNull()
    world.clock.ms = due
    await wakeOverdue(world.ctx)
    expect(world.nextAlarm(ada.user.id)).not.toBeNull()
    await world.ring(ada.user.id)
  }
  await settle(world, ada)
  expect(((await latestRun(world, ada.user.id)).stopRequestedAt ?? 0) - end).toBeLessThan(1_000)
})

test('finds an orphan behind a thousand instances of others', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  await pressStop(world, ada)
  await settle(world, ada)
  const run = (await latestRun(world, ada.user.id)).id
  await launch('the last one', { session: run, user: ada.user.id })
  const { instances } = await cloud.listPage(null)
  const [known] = instances
  const others = Array.from({ length: 1_000 }, (_, i) => ({
    ...(known as NonNullable<typeof known>),
    id: `i-${i}`,
    state: 'running' as const,
    token: null,
    tags: { session: `ses_of-another-stage-${i}` },
  }))
  const ended = await endOrphans(world.ctx, [...others, ...instances])
  expect(ended).toHaveLength(1)
  takeAlert()
  expect(aliveOf(world, ada.user.id)).toEqual([])
})

test('ends an instance of an abandoned launch while its run continues', async () => {
  await freshPlaces(world, 2)
  const ada = await newCustomer(world)
  const run = await running(world, ada)
  const [own] = aliveOf(world, ada.user.id)
  await world.db.insert(launches).values({
    token: 'given up',
    runId: run.id,
    placeId: run.placeId,
    createdAt: world.clock.ms,
    outcome: 'refused',
  })
  await launch('given up', { session: run.id, user: ada.user.id })
  expect(aliveOf(world, ada.user.id)).toHaveLength(2)
  expect(await sweep()).toHaveLength(1)
  takeAlert()
  expect(aliveOf(world, ada.user.id).map(({ instanceId }) => instanceId)).toEqual([own?.instanceId])
  await pressStop(world, ada)
  await settle(world, ada)
})

test('ends an instance whose run has ended, and keeps those of live runs and of strangers', async () => {
  await freshPlaces(world, 2)
  const [gone, live] = [await newCustomer(world), await newCustomer(world)]
  await running(world, gone)
  await pressStop(world, gone)
  await settle(world, gone)
  const run = await latestRun(world, gone.user.id)
  await running(world, live)
  const late = await launch('late', { session: run.id, user: gone.user.id })
  const strange = await launch('strange', { session: 'ses_of-another-stage', user: gone.user.id })
  const untagged = await launch('untagged', {})
  expect(await sweep()).toEqual([(late as { id: string }).id])
  takeAlert()
  const alive = world.ec2.instances().filter(({ state }) => state === 'pending' || state === 'running')
  const ids = alive.map(({ instanceId }) => instanceId)
  expect(ids).not.toContain((late as { id: string }).id)
  expect(ids).toEqual(expect.arrayContaining([(strange as { id: string }).id, (untagged as { id: string }).id]))
  expect(aliveOf(world, live.user.id)).toHaveLength(1)
})

test('an orphan that cannot be ended now does not keep the others alive', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  await pressStop(world, ada)
  await settle(world, ada)
  const run = (await latestRun(world, ada.user.id)).id
  for (const token of ['one', 'two', 'three']) await launch(`orphan-${token}`, { session: run, user: ada.user.id })
  world.ec2.inject('UnauthorizedOperation', 1, { action: 'TerminateInstances' })
  await expect(sweep()).rejects.toMatchObject({ code: 'provider_failed' })
  const [alert, line] = world.takeLines()
  expect(alert).toMatchObject({ event: 'alert', matters: 3, subject: '3 servers without a run' })
  expect(line).toMatchObject({ event: 'orphan_not_ended', instanceId: expect.stringMatching(/^i-/) })
  expect(line?.error?.at(-1)).toMatchObject({ code: 'UnauthorizedOperation', requestId: expect.any(String) })
  expect(aliveOf(world, ada.user.id)).toHaveLength(1)
  await sweep()
  expect(aliveOf(world, ada.user.id)).toEqual([])
})
