import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { runs } from '../../../../db/schema/fleet.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'
import { aliveOf, freshPlaces, latestRun, newCustomer } from '../../../../testing/world/fleet.ts'
import { pressStop, running, settle } from '../../../../testing/world/play.ts'
import { quietWorld } from '../../../../testing/world/quiet-world.ts'

const world = await quietWorld()

/** Someone with a minute of their trial left, and a running server. */
async function lastMinute() {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { demo: true, secondsUsed: 29 * 60 })
  return { ada, run: await running(world, ada) }
}

test('a server under a plan no longer wakes its user once it runs', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  // Once more, for the alarm that the press armed.
  await world.ring(ada.user.id)
  expect(world.nextAlarm(ada.user.id)).toBeNull()
  await pressStop(world, ada)
  await settle(world, ada)
  expect(world.nextAlarm(ada.user.id)).toBeNull()
})

test('a server of a trial wakes its user only at the end of the trial', async () => {
  const { ada, run } = await lastMinute()
  await world.ring(ada.user.id)
  expect(world.nextAlarm(ada.user.id)).toBeGreaterThanOrEqual(run.mustStopAt ?? 0)
  expect(world.nextAlarm(ada.user.id)).toBeLessThan((run.mustStopAt ?? 0) + 100)
  await settle(world, ada)
})

test('a trial that begins after a long start wakes its user at its end', async () => {
  world.answerMs = 60_000
  const { ada, run } = await lastMinute()
  world.answerMs = 0
  expect(world.nextAlarm(ada.user.id)).toBeGreaterThanOrEqual(run.mustStopAt ?? Number.NaN)
  expect(world.nextAlarm(ada.user.id)).toBeLessThan((run.mustStopAt ?? 0) + 100)
  await settle(world, ada)
})

test('a trial ends to the second while EC2 throttles every call, and is not billed beyond its minutes', async () => {
  const { ada, run } = await lastMinute()
  world.ec2.inject('RequestLimitExceeded', 12, { action: 'DescribeInstances' })
  await world.ringUntil(ada.user.id, async () => (await latestRun(world, ada.user.id)).stopRequestedAt !== null, 20)
  const { mustStopAt, stopRequestedAt } = await latestRun(world, ada.user.id)
  expect((stopRequestedAt ?? 0) - (mustStopAt ?? 0)).toBeGreaterThanOrEqual(0)
  expect((stopRequestedAt ?? 0) - (mustStopAt ?? 0)).toBeLessThan(1_000)
  await settle(world, ada)
  expect(inBrief(world.takeLines())).toEqual(Array(12).fill('job_step_failed RequestLimitExceeded'))
  expect((await latestRun(world, ada.user.id)).meteredUntil).toBe(run.mustStopAt)
  expect(aliveOf(world, ada.user.id)).toEqual([])
})

test('a plan that begins just as a trial ends keeps the server running', async () => {
  const { ada, run } = await lastMinute()
  world.advance(61)
  world.wire = async (call, effect) => {
    if (call.startsWith('db: batch')) await world.db.update(runs).set({ mustStopAt: null }).where(eq(runs.id, run.id))
    return effect()
  }
  await world.ring(ada.user.id)
  world.wire = (_, effect) => effect()
  expect(await latestRun(world, ada.user.id)).toMatchObject({ mustStopAt: null, stopRequestedAt: null })
})
