import { expect, test } from 'vitest'
import { NO_WISHES } from '../../../src/domain/run-wishes.ts'
import { startRun } from '../../../src/server/fleet/start-run.ts'
import { aliveOf, freshPlaces, jobsOf, latestRun, newCustomer } from '../../../testing/world/fleet.ts'
import { finishJobs, pressStart, pressStop, running, settle } from '../../../testing/world/play.ts'
import { quietWorld } from '../../../testing/world/quiet-world.ts'
import { Cut } from '../../../testing/world/wire.ts'
import { onlyMishaps } from '../../../testing/world/world.ts'

const world = await quietWorld()

test('two clicks on Stop make one job, even if one comes later', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  const [first, second] = await Promise.all([pressStop(world, ada), pressStop(world, ada)])
  expect(second?.job.id).toBe(first?.job.id)
  world.advance(1)
  const third = await pressStop(world, ada)
  expect(third.job.id).toBe(first?.job.id)
  expect(third.run.meteredUntil).toBe(first?.run.meteredUntil)
  await settle(world, ada)
  await expect(pressStop(world, ada)).rejects.toMatchObject({ code: 'not_running' })
})

test('if the program dies right after writing down a stop, the alarm set earlier carries it out', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  // The watching alarm is lost, so only the stop's own is left.
  world.kept(ada.user.id).alarm = null
  world.wire = async (call, effect) => {
    const answer = await effect()
    if (call.startsWith('db: batch INSERT INTO jobs')) throw new Cut(call)
    return answer
  }
  await pressStop(world, ada).catch(onlyMishaps)
  world.wire = (_, effect) => effect()
  world.restart()
  expect((await latestRun(world, ada.user.id)).stopRequestedAt).not.toBeNull()
  expect(world.nextAlarm(ada.user.id)).not.toBeNull()
  await settle(world, ada)
  expect(aliveOf(world, ada.user.id)).toEqual([])
})

test('a stop after the end of the trial is metered up to that end', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { demo: true, secondsUsed: 1_700 })
  const { mustStopAt } = await running(world, ada)
  world.advance(160)
  expect(world.clock.ms).toBeGreaterThan(mustStopAt ?? Number.NaN)
  expect((await pressStop(world, ada)).run.meteredUntil).toBe(mustStopAt)
  await settle(world, ada)
})

test('a stop after the end that the user set is metered up to that end', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await startRun(world.process.ctx, ada, null, null, { ...NO_WISHES, stopAfterMs: 600_000 })
  await world.process.settle()
  await finishJobs(world, ada)
  const { endsAt } = await latestRun(world, ada.user.id)
  world.advance(700)
  expect((await pressStop(world, ada)).run.meteredUntil).toBe(endsAt)
  await settle(world, ada)
})

test('a failed start that is cleaning up keeps its reason when stopped', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  await world.ring(ada.user.id)
  const [instance] = aliveOf(world, ada.user.id)
  world.advance(601)
  // It gives up; the instance needs 3 s to end.
  await world.ring(ada.user.id)
  expect(await jobsOf(world, ada.user.id)).toMatchObject([{ errorCode: 'timeout', runAt: expect.any(Number) }])
  expect(instance).toBeDefined()
  await pressStop(world, ada)
  await settle(world, ada)
  const [start, stop] = await jobsOf(world, ada.user.id)
  expect(start).toMatchObject({ kind: 'server_start', status: 'failed', errorCode: 'timeout' })
  expect(start?.errorMessage).toMatch(/within 10 minutes/)
  expect(stop).toMatchObject({ kind: 'server_stop', status: 'succeeded' })
  // Subscribers of the start receive its end.
  const told = world.published.filter(({ job }) => job.id === start?.id).at(-1)
  expect(told?.job).toMatchObject({ status: 'failed', error_code: 'timeout' })
})
