import { beforeEach, expect, test } from 'vitest'
import { lineGroups } from '../../../../db/schema/line.ts'
import { MINUTE_MS } from '../../../../src/domain/instant.ts'
import { NO_WISHES } from '../../../../src/domain/run-wishes.ts'
import { listGroups } from '../../../../src/server/fleet/line/groups.ts'
import { joinLine } from '../../../../src/server/fleet/line/join.ts'
import { type Customer, freshPlaces, newCustomer } from '../../../../testing/world/fleet.ts'
import { openGroups } from '../../../../testing/world/groups.ts'
import { pressStart, running } from '../../../../testing/world/play.ts'

const { world, empty, group, customers } = await openGroups()
beforeEach(empty)

const join = (one: Customer, start = false) => joinLine(world.ctx, one, NO_WISHES, start)
const UNAVAILABLE = { code: 'no_capacity' }

test('of two groups, the one made first comes first where places are short, and neither blocks the other', async () => {
  const [ada, ben, both] = (await customers(3)) as [Customer, Customer, Customer]
  await freshPlaces(world, 2)
  await group({ count: 1, people: [ada] })
  world.advance(1)
  await group({ count: 2, people: [ben, both] })
  await pressStart(world, ben)
  // The last free place is the first group's.
  await expect(pressStart(world, both)).rejects.toMatchObject(UNAVAILABLE)
  await pressStart(world, ada)
  const lines = await listGroups(world.ctx)
  expect(lines.map(({ places, used, held, missing }) => [places, used, held, missing])).toEqual([
    [2, 1, 0, 1],
    [1, 1, 0, 0],
  ])
})

test('someone in two groups takes a place of one, and counts in both', async () => {
  const [both, ben] = (await customers(2)) as [Customer, Customer]
  await freshPlaces(world, 3)
  await group({ people: [both] })
  world.advance(1)
  await group({ count: 2, people: [both] })
  await expect(pressStart(world, ben)).rejects.toMatchObject(UNAVAILABLE)
  await pressStart(world, both)
  // One of the second group's two places is still missing: two are free.
  await pressStart(world, ben)
  expect((await listGroups(world.ctx)).map(({ used, held }) => [used, held])).toEqual([
    [1, 1],
    [1, 0],
  ])
})

test('its people beyond its places are like everyone else to another group', async () => {
  await freshPlaces(world, 2)
  const [ada, extra, ben] = (await customers(3)) as [Customer, Customer, Customer]
  await group({ people: [ada, extra] })
  world.advance(1)
  await group({ people: [ben] })
  await pressStart(world, ada)
  await expect(pressStart(world, extra)).rejects.toMatchObject(UNAVAILABLE)
  await pressStart(world, ben)
})

test('its people start before everyone in line and before a later group', async () => {
  const [owner, ada, bea, ben, cleo] = (await customers(5)) as [Customer, Customer, Customer, Customer, Customer]
  await freshPlaces(world, 1)
  await running(world, owner)
  await join(ben)
  await join(cleo)
  await group({ people: [ada] })
  world.advance(1)
  await group({ people: [cleo, bea] })
  // As when places come back by themselves: nothing was written at that moment.
  const [first = ''] = await freshPlaces(world, 1)
  expect((await pressStart(world, ada)).run.placeId).toBe(first)
  await freshPlaces(world, 2)
  // The second group's turn: Cleo waits in line, before Bea.
  await expect(pressStart(world, bea)).rejects.toMatchObject(UNAVAILABLE)
  expect((await pressStart(world, cleo)).job.status).toBe('queued')
})

test('someone in a group of one size takes no place of a group of another size', async () => {
  await freshPlaces(world, 2, 1)
  const [ada, large] = [await newCustomer(world, { premium: true }), await newCustomer(world, { premium: true })]
  await group({ people: [ada] })
  world.advance(1)
  await group({ people: [large], gpus: 4 })
  expect((await pressStart(world, ada)).run.instanceType).toBe('g6.4xlarge')
  expect((await pressStart(world, large)).run.instanceType).toBe('g6.12xlarge')
})

test('a group that is over or comes later counts for nothing while another is on', async () => {
  await freshPlaces(world, 2)
  const [ada, ben, cleo] = (await customers(3)) as [Customer, Customer, Customer]
  await group({ count: 5, people: [ada], ms: MINUTE_MS })
  await group({ count: 5, people: [ada], fromMs: 60 * MINUTE_MS })
  world.advance(61)
  await group({ people: [cleo] })
  await pressStart(world, ben)
  await expect(pressStart(world, ada)).rejects.toMatchObject(UNAVAILABLE)
  await pressStart(world, cleo)
})

test('a group with more servers than places takes nothing from another', async () => {
  await freshPlaces(world, 3)
  const [ada, bea, ben, cleo] = (await customers(4)) as [Customer, Customer, Customer, Customer]
  await running(world, ada)
  await running(world, bea)
  await group({ people: [ada, bea] })
  await group({ people: [cleo] })
  await expect(pressStart(world, ben)).rejects.toMatchObject(UNAVAILABLE)
  await pressStart(world, cleo)
})

test('of two groups made at the same moment, one comes first', async () => {
  await freshPlaces(world, 1)
  const people = (await customers(2)) as [Customer, Customer]
  const made = [await group({ people: [people[0]] }), await group({ people: [people[1]] })]
  await world.db.update(lineGroups).set({ madeAt: 1 })
  const first = (made[0]?.id ?? '') < (made[1]?.id ?? '') ? 0 : 1
  await expect(pressStart(world, people[1 - first] as Customer)).rejects.toMatchObject(UNAVAILABLE)
  await pressStart(world, people[first])
})
