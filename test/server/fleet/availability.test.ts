import { eq, inArray, isNull, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { writeBatch } from '../../../db/client.ts'
import { places } from '../../../db/schema/fleet.ts'
import { machinesOf, machineText } from '../../../src/domain/machine.ts'
import { getAllowance } from '../../../src/server/billing/allowance.ts'
import { findAvailability, machineQueries, toMachines } from '../../../src/server/fleet/availability.ts'
import { memoryDatabase } from '../../../testing/stack/memory-database.ts'
import { freshPlaces, newCustomer } from '../../../testing/world/fleet.ts'
import { openWorld } from '../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase('libsql'))

/** The only places there are, so that nothing else is a candidate. */
async function onlyPlaces(count: number, large = 0): Promise<string[]> {
  await world.db.update(places).set({ retiredAt: 1 })
  return freshPlaces(world, count, large)
}

const reserve = (ids: string[]) =>
  world.db.update(places).set({ reservedBy: sql`'ses_in ' || id` }).where(inArray(places.id, ids))

async function offered(account: Parameters<typeof newCustomer>[1] = {}) {
  const { id } = (await newCustomer(world, account)).user
  return findAvailability(world.ctx, id, await getAllowance(world.ctx, id))
}

test('lists every place of a small fleet in the order of reserving, with why one is not offered', async () => {
  const ids = await onlyPlaces(5, 2)
  const [small = '', aside = '', taken = '', large = '', retired = ''] = ids
  await reserve([taken])
  await world.db
    .update(places)
    .set({ setAsideUntil: world.clock.ms + 60_000 })
    .where(eq(places.id, aside))
  await world.db.update(places).set({ retiredAt: 1 }).where(eq(places.id, retired))
  const { ServerAvailable, candidates } = await offered({ premium: true })
  expect(ServerAvailable).toBe(true)
  expect(candidates.map(({ server_id, available, reason }) => [server_id, available, reason])).toEqual([
    [large, true, null],
    [small, true, null],
    [aside, false, 'Out of capacity'],
    [taken, false, 'Reserved'],
  ])
  expect((await offered()).candidates.map(({ server_id }) => server_id)).toEqual([small, aside, taken])
  await reserve([small])
  expect((await offered()).ServerAvailable).toBe(false)
})

test('finds the free places behind thousands that are taken, and answers in less than 20 KB', async () => {
  await onlyPlaces(0)
  const rows = Array.from({ length: 4_000 }, (_, position) => ({
    id: `srv_place-${position.toString().padStart(14, '0')}`,
    instanceType: 'g6e.24xlarge',
    availabilityZone: 'ap-southeast-2a',
    position,
    reservedBy: `ses_${position}`,
  }))
  await writeBatch(
    world.db,
    Array.from({ length: 40 }, (_, i) => world.db.insert(places).values(rows.slice(i * 100, (i + 1) * 100))),
  )
  const all = await offered()
  expect(all).toMatchObject({ ServerAvailable: false, candidates: { length: 100 } })

  const last = rows.at(-1)?.id as string
  await world.db.update(places).set({ reservedBy: null }).where(eq(places.id, last))
  const { ServerAvailable, candidates } = await offered()
  expect(ServerAvailable).toBe(true)
  expect(candidates).toHaveLength(100)
  expect(candidates.at(-1)).toMatchObject({ server_id: last, available: true })
  expect(candidates[98]).toMatchObject({ server_id: rows[98]?.id, available: false })

  await world.db.update(places).set({ reservedBy: null, setAsideUntil: world.clock.ms + 1 })
  expect(new Blob([JSON.stringify(await offered())]).size).toBeLessThan(20_000)
  await world.db.update(places).set({ setAsideUntil: 0 })
  expect((await offered()).candidates.map(({ server_id }) => server_id)).toEqual(rows.slice(0, 100).map(({ id }) => id))
})

test('people can find and choose a small place behind hundreds of larger free ones', async () => {
  await onlyPlaces(1)
  const [small] = await world.db.select().from(places).where(isNull(places.retiredAt))
  await world.db.insert(places).values(
    Array.from({ length: 120 }, (_, position) => ({
      id: `srv_large-${position}`,
      instanceType: 'g6.12xlarge',
      availabilityZone: 'us-east-1a',
      gpus: 4,
      position,
    })),
  )
  const { candidates } = await offered({ premium: true })
  expect(candidates).toHaveLength(100)
  expect(machinesOf(candidates).map(({ instance_type }) => instance_type)).toEqual(['g6.12xlarge', 'g6.4xlarge'])
  expect(candidates.at(-1)).toMatchObject({ server_id: small?.id, available: true })
})

test('the page shows what would start, and the smaller choices', async () => {
  const zones = async (gpus: number) => {
    const rows = await world.db.batch([...machineQueries(world.ctx, 'user_nobody')])
    return toMachines(rows, gpus).map((machine) => machineText(machine.instance_type, machine.availability_zone))
  }
  const [one, aside = ''] = await onlyPlaces(3, 2)
  await world.db
    .update(places)
    .set({ setAsideUntil: world.clock.ms + 60_000 })
    .where(eq(places.id, aside))
  const [small, large] = ['1 × L4, 16 CPU, 64 GB, us-east-1a', '4 × L4, 48 CPU, 192 GB, us-east-1c']
  expect(await zones(4)).toEqual([large, small])
  expect(await zones(1)).toEqual([small])
  await reserve([one ?? ''])
  expect(await zones(4)).toEqual([large])
  expect(await zones(1)).toEqual([])
})

test('neither an availability check nor a reservation reads the whole fleet', async () => {
  const plan = async (query: string) =>
    (await world.db.$client.execute(`EXPLAIN QUERY PLAN ${query}`)).rows.map(({ detail }) => String(detail))
  const order = 'ORDER BY gpus DESC, position'
  expect(await plan(`SELECT * FROM servers WHERE retired_at IS NULL AND gpus <= 4 ${order} LIMIT 100`)).toEqual([
    expect.stringMatching(/^SEARCH servers USING INDEX servers_in_order/),
  ])
  expect(
    await plan(`SELECT id FROM servers WHERE +reserved_by IS NULL AND (retired_at IS NULL AND set_aside_until <= 5)
      AND gpus <= 4 ${order} LIMIT 1`),
  ).toEqual([expect.stringMatching(/^SEARCH servers USING INDEX servers_free/)])
})
