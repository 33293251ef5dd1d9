import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fleetFigures } from '../../src/domain/instance.ts'
import {
  INSTANCE_COLUMNS,
  type InstanceView,
  instanceViewPath,
  NEWEST_FIRST,
  pageInstances,
  parseInstanceView,
  sortedBy,
  viewInstances,
} from '../../src/domain/instance-view.ts'
import type { Instance } from '../../src/domain/wire/fleet.ts'
import { manyInstances } from '../../testing/instances.ts'

const NOW = Date.UTC(2026, 10, 21)
const word = fc.oneof(fc.constant(null), fc.constantFrom('a', 'B', 'b2', 'b10', '10.0.0.2', '10.0.0.10'))
const instance: fc.Arbitrary<Instance> = fc.record({
  instance_id: fc.uuid(),
  name: word,
  instance_type: fc.constantFrom('g6.4xlarge', 'g6.12xlarge'),
  state: fc.constantFrom('running', 'pending', 'terminated'),
  status_check: word,
  private_ip: word,
  public_ip: word,
  launch_time: fc.option(fc.integer({ min: 0, max: NOW }).map((ms) => new Date(ms).toISOString())),
  run_id: word,
  owner_id: word,
  owner_email: word,
  environment: word,
  vehicle: fc.constantFrom(null, 'uav', 'ugv'),
  cost_dollars: fc.option(fc.nat(1000)),
})
const view: fc.Arbitrary<InstanceView> = fc.record({
  sort: fc.constantFrom(...INSTANCE_COLUMNS.map(({ key }) => key)),
  order: fc.constantFrom('asc', 'desc'),
  filter: fc.constantFrom('', 'running', 'G6 running', 'b1', 'nowhere'),
  show: fc.constantFrom('all', 'running', 'changing', 'impaired'),
  page: fc.integer({ min: 1, max: 9 }),
})

test('a view survives the round trip through its address', () => {
  fc.assert(
    fc.property(view, (some) => {
      expect(parseInstanceView(new URL(instanceViewPath(some), 'http://x').searchParams)).toEqual(some)
    }),
  )
  expect(instanceViewPath(NEWEST_FIRST)).toBe('/console')
  expect(NEWEST_FIRST).toEqual({ sort: 'launch_time', order: 'desc', filter: '', show: 'all', page: 1 })
  for (const wrong of ['page=0', 'page=-1', 'page=1.5', 'page=x', 'page=1e99', 'show=toString', 'show=none'])
    expect(parseInstanceView(new URLSearchParams(wrong))).toEqual(NEWEST_FIRST)
  expect(parseInstanceView(new URLSearchParams('sort=password&order=up'))).toEqual(NEWEST_FIRST)
  expect(parseInstanceView(new URLSearchParams('sort=name')).order).toBe('asc')
  expect(parseInstanceView(new URLSearchParams('order=asc'))).toEqual({ ...NEWEST_FIRST, order: 'asc' })
  expect(parseInstanceView(new URLSearchParams(`q=${'x'.repeat(201)}`)).filter).toBe('x'.repeat(200))
})

test('without a filter no row is lost or doubled, whatever the column', () => {
  fc.assert(
    fc.property(fc.array(instance), view, (instances, some) => {
      const shown = viewInstances(instances, { ...some, filter: '' }, NOW)
      expect(shown.map((i) => i.instance_id).sort()).toEqual(instances.map((i) => i.instance_id).sort())
    }),
  )
})

test('unknown values come last in both directions, and the rest is in order', () => {
  fc.assert(
    fc.property(fc.array(instance), fc.constantFrom('asc' as const, 'desc' as const), (instances, order) => {
      const costs = viewInstances(instances, { sort: 'cost_dollars', order, filter: '' }, NOW).map(
        (i) => i.cost_dollars,
      )
      const known = costs.filter((cost) => cost !== null)
      expect(costs.slice(0, known.length)).toEqual(known)
      expect(known).toEqual([...known].sort((a, b) => (order === 'asc' ? a - b : b - a)))
    }),
  )
})

test('addresses and names sort in natural order', () => {
  const row = (private_ip: string) => ({ private_ip }) as Instance
  const rows = ['10.0.0.10', '10.0.0.9', '9.255.0.1'].map(row)
  const sorted = viewInstances(rows, { sort: 'private_ip', order: 'asc', filter: '' }, NOW)
  expect(sorted.map((i) => i.private_ip)).toEqual(['9.255.0.1', '10.0.0.9', '10.0.0.10'])
})

test.each([
  ['instance_id', ['i-0a', 'i-10', 'i-9', 'i-B', 'i-a']],
  ['launch_time', ['2028-01-01T00:00:00.000Z', '2028-01-01T00:00:00.001Z', '2028-01-02T00:00:00.000Z']],
  ['name', ['a', 'B', 'b2', 'b10', 'é']],
  ['cost_dollars', [0.05, 0.5, 9.75, 12.5]],
] as const)('%s sorts in both directions', (sort, values) => {
  const rows = [...values.slice(2), ...values.slice(0, 2).toReversed()].map((value) => ({ [sort]: value }) as never)
  const column = (order: 'asc' | 'desc') =>
    viewInstances(rows, { sort, order, filter: '' }, NOW).map((row: Instance) => row[sort])
  expect(column('asc')).toEqual(values)
  expect(column('desc')).toEqual(values.toReversed())
})

test('equal rows keep their order, whatever the column and the direction', () => {
  fc.assert(
    fc.property(instance, view, (one, { sort, order }) => {
      const rows = ['1', '2', '3'].map((server) => ({ ...one, server }))
      expect(viewInstances(rows, { sort, order, filter: '' }, NOW)).toEqual(rows)
    }),
  )
})

test('uptime sorts running instances by seconds and puts the rest last', () => {
  const row = (state: string, seconds: number) =>
    ({ state, launch_time: new Date(NOW - seconds * 1000).toISOString() }) as Instance
  const [young, old, gone] = [row('running', 9), row('running', 10), row('terminated', 1)]
  const uptime = (order: 'asc' | 'desc') =>
    viewInstances([gone, old, young], { sort: 'uptime', order, filter: '' }, NOW)
  expect(uptime('asc')).toEqual([young, old, gone])
  expect(uptime('desc')).toEqual([old, young, gone])
})

test('a filter keeps exactly the rows that contain each of its words', () => {
  fc.assert(
    fc.property(fc.array(instance), view, (instances, some) => {
      const shown = new Set(viewInstances(instances, some, NOW))
      for (const one of instances) {
        const fields = Object.entries(one).filter(([key]) => !['launch_time', 'cost_dollars'].includes(key))
        const holds = some.filter
          .toLowerCase()
          .split(' ')
          .every((part) =>
            fields.some(([, value]) =>
              String(value ?? '')
                .toLowerCase()
                .includes(part),
            ),
          )
        expect(shown.has(one)).toBe(holds)
      }
    }),
  )
})

test('a filter ignores extra spaces', () => {
  const rows = [{ name: 'alpha beta' }, { name: 'alphabeta' }, { name: 'beta' }] as Instance[]
  const found = (filter: string) => viewInstances(rows, { ...NEWEST_FIRST, filter }, NOW).length
  expect([' beta  ALPHA ', 'al  be', ' ', 'alpha\u00a0beta'].map(found)).toEqual([2, 2, 3, 2])
  // A word does not match across two adjacent fields.
  expect(viewInstances([{ name: 'a', instance_id: 'b' } as Instance], { ...NEWEST_FIRST, filter: 'ab' }, NOW)).toEqual(
    [],
  )
})

test('a second click on a column reverses it; another column starts ascending', () => {
  const once = sortedBy(NEWEST_FIRST, 'name')
  expect(once).toMatchObject({ sort: 'name', order: 'asc' })
  expect(sortedBy({ ...NEWEST_FIRST, page: 4 }, 'name').page).toBe(1)
  expect(sortedBy(once, 'name').order).toBe('desc')
  expect(sortedBy(sortedBy(once, 'name'), 'name').order).toBe('asc')
  expect(sortedBy(once, 'state').order).toBe('asc')
  expect(sortedBy(sortedBy(once, 'name'), 'state')).toMatchObject({ sort: 'state', order: 'asc' })
})

test('the pages make up the whole view, 50 rows each, and the totals cover all instances', () => {
  const all = manyInstances(230, NOW)
  const seen = { ...NEWEST_FIRST, filter: 'g6.4xlarge' }
  const pages = [1, 2, 3].map((page) => pageInstances(all, { ...seen, page }, NOW))
  expect(pages.map(({ instances }) => instances.length)).toEqual([50, 50, 15])
  expect(pages.flatMap(({ instances }) => instances)).toEqual(viewInstances(all, seen, NOW))
  for (const { found, figures } of pages) expect([found, figures]).toEqual([115, fleetFigures(all)])
  // The 51st row is the first of page 2.
  expect(pageInstances(all.slice(0, 50), { ...NEWEST_FIRST, page: 2 }, NOW)).toMatchObject({ page: 1, found: 50 })
  expect(pageInstances(all.slice(0, 51), { ...NEWEST_FIRST, page: 9 }, NOW)).toMatchObject({ page: 2, found: 51 })
  expect(pageInstances([], { ...NEWEST_FIRST, page: 3 }, NOW)).toMatchObject({ page: 1, found: 0, instances: [] })
})

test('a tile shows exactly what it counts', () => {
  const all = manyInstances(300, NOW)
  const figures = fleetFigures(all)
  const found = (show: 'running' | 'changing' | 'impaired') => pageInstances(all, { ...NEWEST_FIRST, show }, NOW).found
  expect([found('running'), found('changing'), found('impaired')]).toEqual([
    figures.running,
    figures.changing,
    figures.unwell,
  ])
})
