import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { places } from '../../../db/schema/fleet.ts'
import { getAllowance } from '../../../src/server/billing/allowance.ts'
import { findAvailability } from '../../../src/server/fleet/availability.ts'
import { addPlaces, listPlaces, retirePlace } from '../../../src/server/fleet/places.ts'
import { memoryDatabase } from '../../../testing/stack/memory-database.ts'
import { aliveOf, freshPlaces, latestRun, newCustomer } from '../../../testing/world/fleet.ts'
import { pressStart, pressStop, running, settle } from '../../../testing/world/play.ts'
import { openWorld } from '../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())
const hand = { db: world.db, now: () => world.clock.ms }
const PLACE = { instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1a', gpus: 1, count: 1 }
const placeOf = async (id = '') => (await listPlaces(hand)).find((place) => place.id === id)
const candidatesOf = async (userId: string, ids: (string | undefined)[]) =>
  (await findAvailability(world.ctx, userId, await getAllowance(world.ctx, userId))).candidates.filter(
    ({ server_id }) => ids.includes(server_id),
  )

test('hands out new places after the existing ones', async () => {
  const [there] = await freshPlaces(world, 1)
  const added = await addPlaces(hand, { ...PLACE, count: 2 })
  for (const expected of [there, ...added])
    expect((await pressStart(world, await newCustomer(world))).run.placeId).toBe(expected)
})

test('launches from the launch template that a place names', async () => {
  await freshPlaces(world, 0)
  await addPlaces(hand, PLACE)
  await addPlaces(hand, { ...PLACE, launchTemplate: 'proving-ground-us-east-1a', count: 2 })
  const templates: (string | undefined)[] = []
  for (const customer of [await newCustomer(world), await newCustomer(world), await newCustomer(world)]) {
    await running(world, customer)
    templates.push(aliveOf(world, customer.user.id)[0]?.tags['aws:ec2launchtemplate:id'])
  }
  expect(templates[0]).toMatch(/^lt-/)
  expect(templates[1]).not.toBe(templates[0])
  expect(templates[2]).toBe(templates[1])
})

test.each([
  [{ instanceType: 'g6' }, 'The type'],
  [{ instanceType: '' }, 'The type'],
  [{ availabilityZone: 'us-east-1' }, 'The zone'],
  [{ launchTemplate: '' }, 'The template'],
  [{ launchTemplate: 'two words' }, 'The template'],
  [{ gpus: 0 }, 'The GPUs'],
  [{ gpus: Number.NaN }, 'The GPUs'],
  [{ gpus: 1.5 }, 'The GPUs'],
  [{ gpus: 65 }, 'The GPUs'],
  [{ count: 0 }, 'The count'],
  [{ count: 501 }, 'The count'],
])('refuses %j with a sentence that names %s', async (wrong, name) => {
  const before = await world.db.$count(places)
  await expect(addPlaces(hand, { ...PLACE, ...wrong })).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining(`${name} must be`),
  })
  expect(await world.db.$count(places)).toBe(before)
})

test('never hands out a retired place again, and lets its run continue', async () => {
  const [first, second] = await freshPlaces(world, 2)
  const [ada, eve, bob] = [await newCustomer(world), await newCustomer(world), await newCustomer(world)]
  expect((await running(world, ada)).placeId).toBe(first)
  const retired = await retirePlace(hand, first ?? '')
  world.advance(5)
  expect((await retirePlace(hand, first ?? '')).retiredAt).toBe(retired.retiredAt)
  const since = new Date(retired.retiredAt ?? 0).toISOString()
  expect(await placeOf(first)).toMatchObject({ state: 'retired, in use', since })
  expect(aliveOf(world, ada.user.id)).toHaveLength(1)
  await pressStop(world, ada)
  await settle(world, ada)

  expect(await placeOf(first)).toMatchObject({ state: 'retired', since })
  expect(await candidatesOf(eve.user.id, [first, second])).toMatchObject([{ server_id: second, available: true }])
  await expect(pressStart(world, eve, first)).rejects.toMatchObject({ code: 'not_found' })
  expect((await pressStart(world, eve)).run.placeId).toBe(second)
  await expect(pressStart(world, bob)).rejects.toMatchObject({ code: 'no_capacity' })
  expect((await latestRun(world, ada.user.id)).placeId).toBe(first)
  await expect(retirePlace(hand, 'srv_none')).rejects.toMatchObject({
    code: 'not_found',
    message: 'Unknown place srv_none. List the places to see their IDs.',
  })
})

test('shows a place that is set aside with its reason, and hands it out again afterwards', async () => {
  const [only] = await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  const until = world.clock.ms + 600_000
  await world.db
    .update(places)
    .set({ setAsideUntil: until })
    .where(eq(places.id, only ?? ''))
  expect(await candidatesOf(ada.user.id, [only])).toMatchObject([{ available: false, reason: 'Out of capacity' }])
  expect(await placeOf(only)).toMatchObject({ state: 'set aside', since: new Date(until - 600_000).toISOString() })
  for (const placeId of [null, only])
    await expect(pressStart(world, ada, placeId)).rejects.toMatchObject({ code: 'no_capacity' })
  world.advance(600)
  expect(await candidatesOf(ada.user.id, [only])).toMatchObject([{ available: true, reason: null }])
  expect((await pressStart(world, ada)).run.placeId).toBe(only)
})
