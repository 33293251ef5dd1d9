import { expect, test, vi } from 'vitest'
import { openWorld } from '../../support/context.ts'
import { aliveOf, freshPlaces, holders, instancesOf, jobsOf, latestRun, newCustomer } from '../../support/fleet.ts'
import { ownDatabase } from '../../support/own-database.ts'
import { pressStop, running, sentences, settle } from '../../support/play.ts'

const world = await openWorld((await ownDatabase()).url)

test('a running server is looked at every 30 s and stays as it is', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  const run = await running(world, ada)
  const told = world.published.length
  for (let looks = 0; looks < 4; looks++) await world.ring(ada.user.id)
  const later = await latestRun(world, ada.user.id)
  expect(later).toEqual({ ...run, confirmedAt: later.confirmedAt })
  expect(later.confirmedAt).toBeGreaterThan(world.clock.ms - 1_000)
  expect(world.published.length).toBe(told)
})

test('an instance that vanished is noticed within a minute; its run ends at the last confirmed second', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  for (let looks = 0; looks < 3; looks++) await world.ring(ada.user.id)
  const { confirmedAt } = await latestRun(world, ada.user.id)
  world.advance(11)
  const vanished = world.clock.ms
  world.ec2.inject('terminate_instance', 1, { instance_id: aliveOf(world, ada.user.id)[0]?.instanceId ?? '' })
  await settle(world, ada)
  const run = await latestRun(world, ada.user.id)
  expect(run.meteredUntil).toBe(confirmedAt)
  expect(run.meteredUntil).toBeLessThanOrEqual(instancesOf(world, ada.user.id)[0]?.shuttingDownAt ?? 0)
  expect(run.stopRequestedAt).toBeLessThan(vanished + 60_000)
  expect(await holders(world)).not.toContain(run.id)
  const [, stop] = await jobsOf(world, ada.user.id)
  expect(stop).toMatchObject({ kind: 'server_stop', status: 'failed', errorCode: 'instance_lost' })
  expect(sentences(world, ada).at(-1)).toMatch(
    /^Your server ended unexpectedly\. Only the time until it was last seen running is counted\. You used [\dms ]+\. Startup \(\d+s\) was free\.$/,
  )
})

test('while EC2 does not answer, nothing is concluded; when it is back, the run goes on', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  const run = await running(world, ada)
  const silence = vi.spyOn(console, 'error').mockImplementation(() => {})
  world.ec2.inject('RequestLimitExceeded', 3, { action: 'DescribeInstances' })
  for (let looks = 0; looks < 5; looks++) await world.ring(ada.user.id)
  expect(silence).toHaveBeenCalledTimes(3)
  silence.mockRestore()
  const later = await latestRun(world, ada.user.id)
  expect(later).toEqual({ ...run, confirmedAt: later.confirmedAt })
  expect(later.confirmedAt).toBeGreaterThan(run.confirmedAt ?? 0)
  await pressStop(world, ada)
  await settle(world, ada)
})

test('a demo that ends while EC2 does not answer is not billed beyond its minutes', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { demo: true, secondsUsed: 29 * 60 })
  const run = await running(world, ada)
  const silence = vi.spyOn(console, 'error').mockImplementation(() => {})
  world.ec2.inject('RequestLimitExceeded', 12)
  await settle(world, ada)
  silence.mockRestore()
  expect((await latestRun(world, ada.user.id)).meteredUntil).toBe(run.mustStopAt)
  expect(aliveOf(world, ada.user.id)).toEqual([])
})

test('nobody looks any more once nothing runs', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  await pressStop(world, ada)
  await settle(world, ada)
  expect(world.nextAlarm(ada.user.id)).toBeNull()
})
