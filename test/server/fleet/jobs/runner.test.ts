import { expect, test } from 'vitest'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'
import { freshPlaces, jobsOf, latestRun, newCustomer } from '../../../../testing/world/fleet.ts'
import { pressStart, pressStop, running } from '../../../../testing/world/play.ts'
import { quietWorld } from '../../../../testing/world/quiet-world.ts'
import { Lost } from '../../../../testing/world/wire.ts'

const world = await quietWorld()

/** Rings once, and returns the milliseconds until the job's next step. */
async function stepOf(userId: string, kind: string): Promise<number> {
  await world.ring(userId)
  const job = (await jobsOf(world, userId)).find((row) => row.kind === kind)
  return (job?.runAt ?? Number.NaN) - world.clock.ms
}

test('retries a failed step after 2, 4, 8, 16, 30, 30 s', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  const { job } = await pressStart(world, ada)
  world.ec2.inject('RequestLimitExceeded', 6, { action: 'RunInstances' })
  const waits: number[] = []
  while (waits.length < 6) {
    const wait = await stepOf(ada.user.id, 'server_start')
    // The alarm armed by a press rings without a step.
    if (wait > (waits.at(-1) ?? 0) - 100) waits.push(wait)
  }
  for (const [i, expected] of [2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries()) {
    expect(waits[i]).toBeLessThanOrEqual(expected)
    expect(waits[i]).toBeGreaterThan(expected - 50)
  }
  const throttled = world.takeLines()
  const ids = { userId: ada.user.id, jobId: job.id, runId: job.runId }
  const attempts = [0, 1, 2, 3, 4, 5]
  expect(throttled).toMatchObject(
    attempts.map((attempts) => ({ event: 'job_step_failed', kind: 'server_start', ...ids, attempts })),
  )
  for (const line of throttled)
    expect(line.error?.at(-1)).toMatchObject({ code: 'RequestLimitExceeded', requestId: expect.any(String) })
})

test('spreads retries: up to half as long again', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  world.ec2.inject('RequestLimitExceeded', 1, { action: 'RunInstances' })
  world.random = () => 0.5
  const wait = await stepOf(ada.user.id, 'server_start')
  world.random = () => 0
  expect(inBrief(world.takeLines())).toEqual(['job_step_failed RequestLimitExceeded'])
  expect(wait).toBeGreaterThan(2_450)
  expect(wait).toBeLessThanOrEqual(2_500)
})

test('after a successful step, the next failure counts as the first', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  world.ec2.inject('RequestLimitExceeded', 3, { action: 'RunInstances' })
  while (world.nextAlarm(ada.user.id) !== null) {
    await world.ring(ada.user.id)
    if ((await latestRun(world, ada.user.id)).instanceId) break
  }
  expect((await jobsOf(world, ada.user.id))[0]).toMatchObject({ attempts: 0 })
  world.ec2.inject('RequestLimitExceeded', 1, { action: 'DescribeInstances' })
  const wait = await stepOf(ada.user.id, 'server_start')
  expect(wait).toBeGreaterThan(1_950)
  expect(wait).toBeLessThanOrEqual(2_000)
  expect(inBrief(world.takeLines())).toEqual(Array(4).fill('job_step_failed RequestLimitExceeded'))
})

test('an end that could not be published is published once the database is back', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  await pressStop(world, ada)
  let away = false
  world.wire = async (call, effect) => {
    if (away) throw new Lost(call)
    const answer = await effect()
    away = call.startsWith('db: batch UPDATE server_sessions SET ended_at')
    return answer
  }
  while (!away) await world.ring(ada.user.id)
  const told = () => world.published.filter(({ job }) => job.kind === 'server_stop' && job.server?.active === false)
  expect(told()).toEqual([])
  // The step could not record its own failure either, so the whole check failed.
  expect(inBrief(world.takeLines())).toEqual(['job_step_failed unavailable', 'alarm_failed unavailable'])
  world.wire = (_, effect) => effect()
  await world.ring(ada.user.id)
  expect(told().map(({ job }) => job.status)).toEqual(['succeeded'])
})
