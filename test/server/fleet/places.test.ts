import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { servers } from '../../../db/schema.ts'
import { findAvailability } from '../../../src/server/fleet/availability.ts'
import { addPlaces, listPlaces, retirePlace } from '../../../src/server/fleet/places.ts'
import { ownDatabase } from '../../../testing/stack/own-database.ts'
import { aliveOf, freshPlaces, latestRun, newCustomer } from '../../../testing/world/fleet.ts'
import { pressStart, pressStop, running, settle } from '../../../testing/world/play.ts'
import { openWorld } from '../../../testing/world/world.ts'

const world = await openWorld((await ownDatabase()).url)
const hand = { db: world.db, now: () => world.clock.ms }
const PLACE = { instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1a', gpus: 1, count: 1 }
const placeOf = async (id = '') => (await listPlaces(hand)).find((place) => place.id === id)
const candidatesOf = async (userId: string, ids: (string | undefined)[]) =>
  (await findAvailability(world.ctx, userId)).candidates.filter(({ server_id }) => ids.includes(server_id))

test('added places are handed out after those there are', async () => {
  const [there] = await freshPlaces(world, 1)
  const added = await addPlaces(hand, { ...PLACE, count: 2 })
  for (const expected of [there, ...added])
    expect((await pressStart(world, await newCustomer(world))).session.serverId).toBe(expected)
})

test.each([
  [{ instanceType: 'g6' }, '--type'],
  [{ instanceType: '' }, '--type'],
  [{ availabilityZone: 'us-east-1' }, '--zone'],
  [{ gpus: 0 }, '--gpus'],
  [{ gpus: Number.NaN }, '--gpus'],
  [{ gpus: 1.5 }, '--gpus'],
  [{ count: 0 }, '--count'],
  [{ count: 501 }, '--count'],
])('%j is refused in a sentence that names %s', async (wrong, name) => {
  const before = await world.db.$count(servers)
  await expect(addPlaces(hand, { ...PLACE, ...wrong })).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining(`${name} must be`),
  })
  expect(await world.db.$count(servers)).toBe(before)
})

test('a retired place is never handed out again, and what runs in it goes on', async () => {
  const [first, second] = await freshPlaces(world, 2)
  const [ada, eve, bob] = [await newCustomer(world), await newCustomer(world), await newCustomer(world)]
  expect((await running(world, ada)).serverId).toBe(first)
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
  expect((await pressStart(world, eve)).session.serverId).toBe(second)
  await expect(pressStart(world, bob)).rejects.toMatchObject({ code: 'unavailable' })
  expect((await latestRun(world, ada.user.id)).serverId).toBe(first)
  await expect(retirePlace(hand, 'srv_none')).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no place with the id srv_none. List them to see their ids.',
  })
})

test('a place that is set aside is shown with its reason, and handed out again when that is over', async () => {
  const [only] = await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  const until = world.clock.ms + 600_000
  await world.db
    .update(servers)
    .set({ setAsideUntil: until })
    .where(eq(servers.id, only ?? ''))
  expect(await candidatesOf(ada.user.id, [only])).toMatchObject([{ available: false, reason: 'Out of capacity' }])
  expect(await placeOf(only)).toMatchObject({ state: 'set aside', since: new Date(until - 600_000).toISOString() })
  for (const serverId of [null, only])
    await expect(pressStart(world, ada, serverId)).rejects.toMatchObject({ code: 'unavailable' })
  world.advance(600)
  expect(await candidatesOf(ada.user.id, [only])).toMatchObject([{ available: true, reason: null }])
  expect((await pressStart(world, ada)).session.serverId).toBe(only)
})
