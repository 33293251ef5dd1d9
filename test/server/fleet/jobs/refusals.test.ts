import { eq, inArray } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { launches, places } from '../../../../db/schema/fleet.ts'
import { AppError } from '../../../../src/domain/error.ts'
import { drainPlace } from '../../../../src/server/fleet/places.ts'
import { countedStartsQuery } from '../../../../src/server/fleet/start-limits.ts'
import { memoryDatabase } from '../../../../testing/stack/memory-database.ts'
import { alertsOf } from '../../../../testing/stack/operator.ts'
import { freshPlaces, holders, instancesOf, jobsOf, latestRun, newCustomer } from '../../../../testing/world/fleet.ts'
import { finishJobs, pressStart, pressStop, sentences, settle } from '../../../../testing/world/play.ts'
import { openWorld } from '../../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())

const LAUNCH_REFUSED =
  "Our cloud provider refused to launch a server. We've been notified. You weren't charged. Please try again later."
const launchesOf = (runId: string) =>
  world.db.select().from(launches).where(eq(launches.runId, runId)).orderBy(launches.createdAt)
const setAsideUntil = async (ids: (string | undefined)[]) => {
  const rows = await world.db
    .select()
    .from(places)
    .where(inArray(places.id, ids as string[]))
    .orderBy(places.position)
  return rows.map((place) => place.setAsideUntil)
}
const launchesSince = (from: number) =>
  world.ec2.calls().filter(({ action, at }) => action === 'RunInstances' && at >= from).length

test.each([
  'Unsupported',
  'InsufficientFreeAddressesInSubnet',
  'InsufficientInstanceCapacity',
  'InsufficientHostCapacity',
])('%s tries the next place and sets this one aside for 10 minutes', async (code) => {
  const [first, second] = await freshPlaces(world, 2)
  const [ada, ben] = [await newCustomer(world), await newCustomer(world)]
  const { job } = await pressStart(world, ada)
  world.ec2.inject(code, 1)
  await finishJobs(world, ada)
  expect(await jobsOf(world, ada.user.id)).toMatchObject([{ status: 'succeeded' }])
  expect(await latestRun(world, ada.user.id)).toMatchObject({ placeId: second })
  const [until = 0, free] = await setAsideUntil([first, second])
  expect(free).toBe(0)
  expect(until).toBeGreaterThan(world.clock.ms + 590_000 - 20_000)
  expect(until).toBeLessThanOrEqual(world.clock.ms + 600_000)

  // The log has EC2's own code and the ids; the operator gets a mail.
  expect(world.takeLines()).toContainEqual(
    expect.objectContaining({
      matter: `launch_refused:${code}`,
      jobId: job.id,
      runId: (await latestRun(world, ada.user.id)).id,
      instanceType: 'g6.4xlarge',
      availabilityZone: 'us-east-1a',
      error: expect.arrayContaining([expect.objectContaining({ code, requestId: expect.any(String) })]),
    }),
  )
  expect((await alertsOf(world)).mails).toContain(`EC2 won't launch g6.4xlarge in us-east-1a: ${code}`)

  // While it is set aside, the next start that has to move does not get it; afterwards, it does.
  const [third] = await freshPlaces(world, 1)
  await world.db
    .update(places)
    .set({ reservedBy: null })
    .where(eq(places.id, first ?? ''))
  await pressStart(world, ben, third)
  world.ec2.inject(code, 1)
  await settle(world, ben)
  expect(await jobsOf(world, ben.user.id)).toMatchObject([{ status: 'failed', errorCode: 'no_capacity' }])
  world.clock.ms = until
  const [fourth] = await freshPlaces(world, 1)
  await world.db
    .update(places)
    .set({ reservedBy: null })
    .where(eq(places.id, first ?? ''))
  await pressStart(world, ben, fourth)
  world.ec2.inject(code, 1)
  await finishJobs(world, ben)
  expect(await latestRun(world, ben.user.id)).toMatchObject({ placeId: first, runningAt: expect.any(Number) })
  world.advance(3_600)
})

test.each([
  'InvalidLaunchTemplateName.NotFoundException',
  'InvalidSubnetID.NotFound',
  'InvalidAMIID.NotFound',
  'InvalidGroup.NotFound',
])('%s is missing in one zone: the next place works, and without one nobody speaks of a full fleet', async (code) => {
  const [first, second] = await freshPlaces(world, 2)
  const [ada, ben] = [await newCustomer(world), await newCustomer(world)]
  await pressStart(world, ada)
  world.ec2.inject(code, 1, { action: 'RunInstances' })
  await finishJobs(world, ada)
  expect(await latestRun(world, ada.user.id)).toMatchObject({ placeId: second, runningAt: expect.any(Number) })
  expect((await setAsideUntil([first]))[0]).toBeGreaterThan(world.clock.ms)
  await freshPlaces(world, 1)
  await pressStart(world, ben)
  world.ec2.inject(code, 1, { action: 'RunInstances' })
  await settle(world, ben)
  expect(await jobsOf(world, ben.user.id)).toMatchObject([{ errorCode: 'launch_refused' }])
  world.takeLines()
})

test.each([
  ['IdempotentParameterMismatch', 'the launch template has a new version since'],
  ['IdempotentInstanceTerminated', 'a look is behind'],
])('%s: the first request made an instance, and the start takes it (%s)', async (code) => {
  await freshPlaces(world, 2)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  world.ec2.inject('lost_response', 1, { action: 'RunInstances' })
  await world.ring(ada.user.id)
  world.ec2.inject(code, 2, { action: 'RunInstances' })
  await finishJobs(world, ada)
  expect(await jobsOf(world, ada.user.id)).toMatchObject([{ status: 'succeeded' }])
  expect(instancesOf(world, ada.user.id)).toHaveLength(1)
  expect((await alertsOf(world)).matters).not.toContain(`launch_refused:${code}`)
  world.ec2.heal()
  world.takeLines()
})

test('looks again for an instance that EC2 speaks of and does not show yet', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  world.ec2.inject('IdempotentInstanceTerminated', 2, { action: 'RunInstances' })
  await finishJobs(world, ada)
  expect(await jobsOf(world, ada.user.id)).toMatchObject([{ status: 'succeeded' }])
  expect((await alertsOf(world)).matters).not.toContain('launch_refused:IdempotentInstanceTerminated')
  world.takeLines()
})

test('a zone that EC2 does not know concerns only its own place', async () => {
  const [first, second] = await freshPlaces(world, 2)
  await world.db
    .update(places)
    .set({ availabilityZone: 'us-east-1-z9' })
    .where(eq(places.id, first ?? ''))
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  await finishJobs(world, ada)
  expect(await latestRun(world, ada.user.id)).toMatchObject({ placeId: second, runningAt: expect.any(Number) })
  expect((await setAsideUntil([first]))[0]).toBeGreaterThan(world.clock.ms)
})

test('a drained place that refuses stays drained', async () => {
  const [drained] = await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  const { setAsideUntil: until } = await drainPlace(world.ctx, drained ?? '')
  world.ec2.inject('InsufficientInstanceCapacity', 1)
  await settle(world, ada)
  expect(await setAsideUntil([drained])).toEqual([until])
})

test('the last place to refuse is also set aside, and released', async () => {
  const [only] = await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  world.ec2.inject('InsufficientInstanceCapacity', 1)
  await settle(world, ada)
  expect(sentences(world, ada).at(-1)).toBe('No GPU servers available right now. All servers are reserved.')
  expect((await setAsideUntil([only]))[0]).toBeGreaterThan(world.clock.ms)
  expect(await holders(world)).not.toContain((await latestRun(world, ada.user.id)).id)
})

test.each([
  'VcpuLimitExceeded',
  'InstanceLimitExceeded',
  'MaxSpotInstanceCountExceeded',
  'UnauthorizedOperation',
  'PendingVerification',
  'OptInRequired',
  'Blocked',
  'AuthFailure',
  'InvalidClientTokenId',
  'SomethingNew',
])('%s ends the start at once', async (code) => {
  const placeRows = await freshPlaces(world, 4)
  const [ada, ben] = [await newCustomer(world), await newCustomer(world)]
  const begun = world.clock.ms
  const { job } = await pressStart(world, ada)
  world.ec2.inject(code, 2, { action: 'RunInstances' })
  await finishJobs(world, ada)
  expect(world.clock.ms - begun).toBeLessThan(5_000)
  expect(launchesSince(begun)).toBeLessThanOrEqual(2)
  expect(await jobsOf(world, ada.user.id)).toMatchObject([{ status: 'failed', errorCode: 'launch_refused' }])
  expect(sentences(world, ada).at(-1)).toBe(LAUNCH_REFUSED)
  expect(instancesOf(world, ada.user.id)).toEqual([])
  expect(await holders(world)).not.toContain((await latestRun(world, ada.user.id)).id)
  expect(await setAsideUntil(placeRows)).toEqual([0, 0, 0, 0])
  const matter = `launch_refused:${code}`
  expect(world.takeLines()).toContainEqual(
    expect.objectContaining({
      matter,
      jobId: job.id,
      error: expect.arrayContaining([expect.objectContaining({ code, requestId: expect.any(String) })]),
    }),
  )
  // One mail an hour per code, however many customers are affected.
  await pressStart(world, ben)
  await finishJobs(world, ben)
  const { matters, mails } = await alertsOf(world)
  expect(matters).toContain(matter)
  expect(mails.filter((subject) => subject.endsWith(`: ${code}`))).toHaveLength(1)
})

test('a refusal after a lost answer proves nothing: finds and ends what the first request launched', async () => {
  await freshPlaces(world, 2)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  world.ec2.inject('lost_response', 1, { action: 'RunInstances' })
  await world.ring(ada.user.id)
  expect(instancesOf(world, ada.user.id)).toHaveLength(1)
  world.ec2.inject('UnauthorizedOperation', 1, { action: 'RunInstances' })
  await settle(world, ada)
  expect(await jobsOf(world, ada.user.id)).toMatchObject([{ status: 'failed', errorCode: 'launch_refused' }])
  expect(instancesOf(world, ada.user.id)).toMatchObject([{ terminatedAt: expect.any(Number) }])
})

test.each([
  ['Server.InternalError', 'Internal error'],
  ['Server.InsufficientInstanceCapacity', 'Insufficient capacity to satisfy instance request'],
  ['Client.VolumeLimitExceeded', 'Volume limit exceeded'],
  ['Client.InvalidSnapshot.NotFound', ''],
])('an instance that dies while pending, for %s, sets its place aside and the start moves on', async (code, words) => {
  const [first, second] = await freshPlaces(world, 2)
  const ada = await newCustomer(world)
  const { job, run } = await pressStart(world, ada)
  world.ec2.inject(code, 1)
  await finishJobs(world, ada)
  expect(await jobsOf(world, ada.user.id)).toMatchObject([{ status: 'succeeded' }])
  expect(await latestRun(world, ada.user.id)).toMatchObject({ placeId: second, runningAt: expect.any(Number) })
  const [until = 0, free] = await setAsideUntil([first, second])
  expect(until).toBeGreaterThan(world.clock.ms + 590_000 - 20_000)
  expect(free).toBe(0)
  // EC2's words are kept, in the log and with the launch.
  const said = expect.objectContaining({ code, message: `${code}: ${words}` })
  expect(world.takeLines()).toContainEqual(
    expect.objectContaining({
      matter: `launch_refused:${code}`,
      jobId: job.id,
      runId: run.id,
      error: expect.arrayContaining([said]),
    }),
  )
  const [dead, alive] = await launchesOf(run.id)
  expect(dead).toMatchObject({ outcome: 'refused', refusalCode: code, placeId: first, endReason: `${code}: ${words}` })
  expect(alive).toMatchObject({ outcome: 'launched', placeId: second })
  world.advance(3_600)
})

test.each([
  ['Server.InternalError', 'launch_refused', LAUNCH_REFUSED, 1],
  [
    'Server.InsufficientInstanceCapacity',
    'no_capacity',
    'No GPU servers available right now. All servers are reserved.',
    0,
  ],
])(
  'a start whose instance dies three times for %s fails, and costs nothing',
  async (code, errorCode, sentence, counted) => {
    const placeRows = await freshPlaces(world, 4)
    const ada = await newCustomer(world)
    const { run } = await pressStart(world, ada)
    world.ec2.inject(code, 4)
    await finishJobs(world, ada)
    expect(await jobsOf(world, ada.user.id)).toMatchObject([{ status: 'failed', errorCode }])
    expect(sentences(world, ada).at(-1)).toBe(sentence)
    expect(await launchesOf(run.id)).toHaveLength(3)
    const aside = await setAsideUntil(placeRows)
    expect(aside.map((until) => until > world.clock.ms)).toEqual([true, true, true, false])
    expect(await latestRun(world, ada.user.id)).toMatchObject({ errorCode, billedFrom: null, meteredUntil: null })
    expect(await holders(world)).not.toContain(run.id)
    expect(await countedStartsQuery(world.ctx, ada.user.id, world.clock.ms)).toHaveLength(counted)
    world.ec2.heal()
  },
)

test('a reason that concerns the whole account ends the start at once', async () => {
  const placeRows = await freshPlaces(world, 2)
  const ada = await newCustomer(world)
  const { run } = await pressStart(world, ada)
  world.ec2.inject('Client.InstanceLimitExceeded', 1)
  await finishJobs(world, ada)
  expect(sentences(world, ada).at(-1)).toBe(LAUNCH_REFUSED)
  expect(await launchesOf(run.id)).toMatchObject([
    { outcome: 'refused', refusalCode: 'Client.InstanceLimitExceeded', endedAt: null },
  ])
  expect(await setAsideUntil(placeRows)).toEqual([0, 0])
  expect((await alertsOf(world)).mails).toContain('EC2 refuses to launch servers: Client.InstanceLimitExceeded')
})

test("an instance that dies before we hear of it is its place's refusal as well", async () => {
  const [first, second] = await freshPlaces(world, 2)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  const real = world.ctx.cloud.launch
  world.ctx.cloud.launch = async (launch) => {
    await real(launch)
    world.ec2.inject('terminate_instance', 1, { instance_id: instancesOf(world, ada.user.id)[0]?.instanceId ?? '' })
    world.ctx.cloud.launch = real
    throw new AppError('unavailable', 'No answer', { retryable: true })
  }
  await finishJobs(world, ada)
  expect(await latestRun(world, ada.user.id)).toMatchObject({ placeId: second, runningAt: expect.any(Number) })
  expect((await setAsideUntil([first]))[0]).toBeGreaterThan(world.clock.ms)
})

test('if EC2 refuses to terminate, alerts the operator and asks until it does', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  await finishJobs(world, ada)
  const { user } = ada
  const { job } = await pressStop(world, ada)
  world.ec2.inject('OperationNotPermitted', 3, { action: 'TerminateInstances' })
  await settle(world, ada)
  expect((await alertsOf(world)).matters).toContain('ec2_refused:OperationNotPermitted')
  const failed = world.takeLines().filter(({ event, jobId }) => event === 'job_step_failed' && jobId === job.id)
  expect(failed).toHaveLength(3)
  expect(failed[0]?.error?.at(-1)).toMatchObject({ code: 'OperationNotPermitted', requestId: expect.any(String) })
  expect((await latestRun(world, user.id)).endedAt).not.toBeNull()
})
