import { eq, isNull } from 'drizzle-orm'
import { expect, test, vi } from 'vitest'
import { plans } from '../../../../db/schema/billing.ts'
import { places } from '../../../../db/schema/fleet.ts'
import { runSeconds } from '../../../../src/domain/money/billing.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { memoryDatabase } from '../../../../testing/stack/memory-database.ts'
import {
  aliveOf,
  freshPlaces,
  holders,
  instancesOf,
  jobsOf,
  latestRun,
  newCustomer,
} from '../../../../testing/world/fleet.ts'
import { finishJobs, pressStart, pressStop, running, sentences, settle } from '../../../../testing/world/play.ts'
import { openWorld } from '../../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())

test('a start reports every phase and ends with a running server that has an address', async () => {
  await freshPlaces(world, 2)
  const ada = await newCustomer(world)
  const { run: pressed, job } = await pressStart(world, ada)
  expect(pressed).toMatchObject({
    runningAt: null,
    endedAt: null,
    instanceType: 'g6.4xlarge',
    availabilityZone: 'us-east-1a',
  })
  expect(job).toMatchObject({ kind: 'server_start', status: 'queued' })
  await finishJobs(world, ada)

  expect(sentences(world, ada)).toEqual([
    'Reserving a server…',
    'Launching g6.4xlarge…',
    'Booting…',
    'Waiting for the simulator to answer…',
    'Your server is running.',
  ])
  const run = await latestRun(world, ada.user.id)
  const [instance] = aliveOf(world, ada.user.id)
  expect(run).toMatchObject({ instanceId: instance?.instanceId, ipAddress: instance?.publicIp, mustStopAt: null })
  expect(run.runningAt).toBeGreaterThanOrEqual(instancesOf(world, ada.user.id)[0]?.runningAt ?? Number.NaN)
  const last = world.published.filter(({ userId }) => userId === ada.user.id).at(-1)?.job
  expect(last).toMatchObject({ status: 'succeeded', server: { active: true, pending: false } })
})

test('a plan bought at the moment the server comes up takes the run out of the trial', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { demo: true })
  await pressStart(world, ada)
  const mine = eq(plans.userId, ada.user.id)
  world.wire = async (name, effect) => {
    if (name.startsWith('db: batch UPDATE server_sessions SET billed')) {
      const [trial] = await world.db.select().from(plans).where(mine)
      await world.db.update(plans).set({ endedAt: world.clock.ms }).where(mine)
      const basic = { id: newId('sub'), planType: 'basic', subType: 'paid', endedAt: null, hours: 5 } as const
      if (trial) await world.db.insert(plans).values({ ...trial, ...basic, anchor: world.clock.ms })
    }
    return effect()
  }
  await finishJobs(world, ada)
  world.wire = (_, effect) => effect()
  expect(await latestRun(world, ada.user.id)).toMatchObject({ runningAt: expect.any(Number), mustStopAt: null })
})

test('waits for an instance that runs without an address', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  const real = world.ctx.cloud.findInstance
  let looks = 0
  world.ctx.cloud.findInstance = async (id) => {
    const found = await real(id)
    return found?.state === 'running' && looks++ < 2 ? { ...found, publicIp: null } : found
  }
  await finishJobs(world, ada)
  world.ctx.cloud.findInstance = real
  expect(sentences(world, ada).slice(-3)).toEqual([
    'Getting an address…',
    'Waiting for the simulator to answer…',
    'Your server is running.',
  ])
})

test('waits for an instance that EC2 does not know yet', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  world.ec2.inject('InvalidInstanceID.NotFound', 3, { action: 'DescribeInstances' })
  await finishJobs(world, ada)
  expect(await jobsOf(world, ada.user.id)).toMatchObject([{ status: 'succeeded' }])
  expect(instancesOf(world, ada.user.id)).toHaveLength(1)
})

test('leaves a place without capacity for the next one', async () => {
  const [first, second, third] = await freshPlaces(world, 3, 1)
  const ada = await newCustomer(world, { premium: true })
  const { run: pressed } = await pressStart(world, ada)
  expect(pressed.placeId).toBe(third)
  world.ec2.inject('InsufficientInstanceCapacity', 2)
  await finishJobs(world, ada)
  const run = await latestRun(world, ada.user.id)
  expect(run).toMatchObject({ placeId: second, instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1b' })
  expect(instancesOf(world, ada.user.id).map((i) => i.availabilityZone)).toEqual(['us-east-1b'])
  const said = sentences(world, ada)
  expect(said).toContain('Launching g6.12xlarge…')
  for (const zone of ['us-east-1c', 'us-east-1a'])
    expect(said).toContain(`No server free in ${zone}. Trying another place…`)
  const free = await world.db.select().from(places).where(isNull(places.reservedBy))
  expect(free.map((place) => place.id).sort()).toEqual([first, third].sort())
})

test('if no place of the plan has capacity, the start fails and frees every place', async () => {
  await freshPlaces(world, 4, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  world.ec2.inject('InsufficientInstanceCapacity', 3)
  await settle(world, ada)
  expect(await jobsOf(world, ada.user.id)).toMatchObject([{ status: 'failed', errorCode: 'no_capacity' }])
  expect(await latestRun(world, ada.user.id)).toMatchObject({
    runningAt: null,
    meteredUntil: null,
    errorMessage: 'No GPU servers available right now. All servers are reserved.',
  })
  expect(await holders(world)).not.toContain((await latestRun(world, ada.user.id)).id)
  expect(instancesOf(world, ada.user.id)).toEqual([])
})

test('a start not running after 10 minutes gives up: nothing runs, nothing is billed', async () => {
  const slow = await openWorld(world.db, { bootMs: 3_600_000 })
  await freshPlaces(slow, 1)
  const ada = await newCustomer(slow)
  const begun = slow.clock.ms
  await pressStart(slow, ada)
  for (let minutes = 0; minutes < 9; minutes += 3) {
    await slow.ring(ada.user.id)
    slow.advance(180)
  }
  await settle(slow, ada)
  expect(await jobsOf(slow, ada.user.id)).toMatchObject([{ status: 'failed', errorCode: 'timeout' }])
  const run = await latestRun(slow, ada.user.id)
  expect(run).toMatchObject({ runningAt: null, meteredUntil: null })
  const failed = slow.published.at(-1)
  expect(failed?.job.error_message).toBe(
    "Your server wasn't ready within 10 minutes. You weren't charged. Please try again.",
  )
  expect((failed?.at ?? 0) - begun).toBeGreaterThanOrEqual(600_000)
  expect((failed?.at ?? 0) - begun).toBeLessThan(640_000)
  expect(aliveOf(slow, ada.user.id)).toEqual([])
  expect(await holders(slow)).not.toContain(run.id)
})

test('an instance that somebody ends before it is ready fails the start', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  await world.ring(ada.user.id)
  await world.ctx.cloud.terminate(aliveOf(world, ada.user.id)[0]?.instanceId ?? '')
  await settle(world, ada)
  expect(await jobsOf(world, ada.user.id)).toMatchObject([{ status: 'failed', errorCode: 'instance_lost' }])
  expect(await latestRun(world, ada.user.id)).toMatchObject({ runningAt: null, meteredUntil: null })
})

test.each(['lost_response', 'timeout', 'RequestLimitExceeded', 'ServerInternal'])(
  '%s of RunInstances makes no second instance',
  async (fault) => {
    await freshPlaces(world, 1)
    const ada = await newCustomer(world)
    const patient = AbortSignal.timeout.bind(AbortSignal)
    const impatient = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => patient(ms === 10_000 ? 300 : ms))
    await pressStart(world, ada)
    world.ec2.inject(fault, 2, { action: 'RunInstances' })
    await finishJobs(world, ada)
    impatient.mockRestore()
    expect(await jobsOf(world, ada.user.id)).toMatchObject([{ status: 'succeeded' }])
    expect(instancesOf(world, ada.user.id)).toHaveLength(1)
    await pressStop(world, ada)
    await settle(world, ada)
    expect(aliveOf(world, ada.user.id)).toEqual([])
  },
)

test('a trial stops to the second when its minutes are used up', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { demo: true, secondsUsed: 29 * 60 + 15 })
  const run = await running(world, ada)
  await settle(world, ada)
  const ended = await latestRun(world, ada.user.id)
  expect(runSeconds(ended.billedFrom ?? 0, ended.meteredUntil ?? 0)).toBe(45)
  expect(ended.meteredUntil).toBe(run.mustStopAt)
  const [instance] = instancesOf(world, ada.user.id)
  expect((instance?.shuttingDownAt ?? 0) - (run.mustStopAt ?? 0)).toBeLessThan(1_000)
  expect(sentences(world, ada).at(-1)).toBe(
    'Your 30 free minutes are used up, so we stopped the server. You owe nothing. Pick a plan to keep flying.',
  )
  await expect(pressStart(world, ada)).rejects.toMatchObject({ code: 'no_minutes' })
})
