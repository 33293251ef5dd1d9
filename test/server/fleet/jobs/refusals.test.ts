import { eq, inArray } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { servers } from '../../../../db/schema.ts'
import { alertsOf } from '../../../../testing/stack/operator.ts'
import { ownDatabase } from '../../../../testing/stack/own-database.ts'
import { freshPlaces, holders, instancesOf, jobsOf, latestRun, newCustomer } from '../../../../testing/world/fleet.ts'
import { finishJobs, pressStart, pressStop, sentences, settle } from '../../../../testing/world/play.ts'
import { openWorld } from '../../../../testing/world/world.ts'

const world = await openWorld((await ownDatabase()).url)

const setAsideUntil = async (ids: (string | undefined)[]) => {
  const rows = await world.db
    .select()
    .from(servers)
    .where(inArray(servers.id, ids as string[]))
    .orderBy(servers.position)
  return rows.map((place) => place.setAsideUntil)
}
const launchesSince = (from: number) =>
  world.ec2.calls().filter(({ action, at }) => action === 'RunInstances' && at >= from).length

test.each([
  'Unsupported',
  'InsufficientFreeAddressesInSubnet',
  'InsufficientInstanceCapacity',
  'InsufficientHostCapacity',
])('%s goes on to the next place and sets this one aside for 10 minutes', async (code) => {
  const [first, second] = await freshPlaces(world, 2)
  const [ada, ben] = [await newCustomer(world), await newCustomer(world)]
  const { job } = await pressStart(world, ada)
  world.ec2.inject(code, 1)
  await finishJobs(world, ada)
  expect(await jobsOf(world, ada.user.id)).toMatchObject([{ status: 'succeeded' }])
  expect(await latestRun(world, ada.user.id)).toMatchObject({ serverId: second })
  const [until = 0, free] = await setAsideUntil([first, second])
  expect(free).toBe(0)
  expect(until).toBeGreaterThan(world.clock.ms + 590_000 - 20_000)
  expect(until).toBeLessThanOrEqual(world.clock.ms + 600_000)

  // Told with EC2's own code, and whom it concerns; the operator by mail.
  expect(world.takeLines()).toContainEqual(
    expect.objectContaining({
      matter: `launch_refused:${code}`,
      jobId: job.id,
      sessionId: (await latestRun(world, ada.user.id)).id,
      instanceType: 'g6.4xlarge',
      availabilityZone: 'us-east-1a',
      error: expect.arrayContaining([expect.objectContaining({ code, requestId: expect.any(String) })]),
    }),
  )
  expect((await alertsOf(world)).mails).toContain(`EC2 launches no g6.4xlarge in us-east-1a: ${code}`)

  // The next start that has to move does not get it while it is set aside, and does afterwards.
  const [third] = await freshPlaces(world, 1)
  await world.db
    .update(servers)
    .set({ reservedBy: null })
    .where(eq(servers.id, first ?? ''))
  await pressStart(world, ben, third)
  world.ec2.inject(code, 1)
  await settle(world, ben)
  expect(await jobsOf(world, ben.user.id)).toMatchObject([{ status: 'failed', errorCode: 'no_capacity' }])
  world.clock.ms = until
  const [fourth] = await freshPlaces(world, 1)
  await world.db
    .update(servers)
    .set({ reservedBy: null })
    .where(eq(servers.id, first ?? ''))
  await pressStart(world, ben, fourth)
  world.ec2.inject(code, 1)
  await finishJobs(world, ben)
  expect(await latestRun(world, ben.user.id)).toMatchObject({ serverId: first, runningAt: expect.any(Number) })
  world.advance(3_600)
})

test('a zone that EC2 does not know is about its place alone', async () => {
  const [first, second] = await freshPlaces(world, 2)
  await world.db
    .update(servers)
    .set({ availabilityZone: 'us-east-1-z9' })
    .where(eq(servers.id, first ?? ''))
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  await finishJobs(world, ada)
  expect(await latestRun(world, ada.user.id)).toMatchObject({ serverId: second, runningAt: expect.any(Number) })
  expect((await setAsideUntil([first]))[0]).toBeGreaterThan(world.clock.ms)
})

test('the last place that refuses is set aside as well, and free', async () => {
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
  'InvalidLaunchTemplateName.NotFoundException',
  'SomethingNew',
])('%s ends the start at once', async (code) => {
  const places = await freshPlaces(world, 4)
  const [ada, ben] = [await newCustomer(world), await newCustomer(world)]
  const begun = world.clock.ms
  const { job } = await pressStart(world, ada)
  world.ec2.inject(code, 2, { action: 'RunInstances' })
  await finishJobs(world, ada)
  expect(world.clock.ms - begun).toBeLessThan(5_000)
  expect(launchesSince(begun)).toBeLessThanOrEqual(2)
  expect(await jobsOf(world, ada.user.id)).toMatchObject([{ status: 'failed', errorCode: 'launch_refused' }])
  expect(sentences(world, ada).at(-1)).toBe(
    'Our cloud provider refused to launch a server. We have been told. Nothing was billed; please try again later.',
  )
  expect(instancesOf(world, ada.user.id)).toEqual([])
  expect(await holders(world)).not.toContain((await latestRun(world, ada.user.id)).id)
  expect(await setAsideUntil(places)).toEqual([0, 0, 0, 0])
  const matter = `launch_refused:${code}`
  expect(world.takeLines()).toContainEqual(
    expect.objectContaining({
      matter,
      jobId: job.id,
      error: expect.arrayContaining([expect.objectContaining({ code, requestId: expect.any(String) })]),
    }),
  )
  // One mail an hour and code, however many customers it hits.
  await pressStart(world, ben)
  await finishJobs(world, ben)
  const { matters, mails } = await alertsOf(world)
  expect(matters).toContain(matter)
  expect(mails.filter((subject) => subject.endsWith(`: ${code}`))).toHaveLength(1)
})

test('a refusal after an answer that was lost is no proof: what the first request launched is found and ended', async () => {
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

test('EC2 that refuses to terminate is an alert, and is asked until it does', async () => {
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
