import { eq } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { auditLog, lineGroupPeople, lineGroups } from '../../../../db/schema.ts'
import { NO_WISHES } from '../../../../src/domain/run-wishes.ts'
import { endGroup, makeGroup, releaseGroups } from '../../../../src/server/fleet/line/groups.ts'
import { joinLine } from '../../../../src/server/fleet/line/join.ts'
import { findLinePlace } from '../../../../src/server/fleet/line/show.ts'
import { type Customer, freshPlaces } from '../../../../testing/world/fleet.ts'
import { openGroups } from '../../../../testing/world/groups.ts'
import { pressStart } from '../../../../testing/world/play.ts'

const { world, hand, empty, group, customers, look } = await openGroups()
beforeEach(empty)
const UNAVAILABLE = { code: 'no_capacity' }

test('gives unused places to the line within a look of its end, and says so in the audit log once', async () => {
  await freshPlaces(world, 1)
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  const { id, endsAt } = await group({ people: [ada] })
  await joinLine(world.ctx, ben, NO_WISHES, false)
  await look()
  expect(await findLinePlace(world.ctx, ben.user.id)).toMatchObject({ position: 1 })
  await releaseGroups(world.ctx)
  expect(await world.db.$count(auditLog, eq(auditLog.subject, id))).toBe(1)
  world.clock.ms = endsAt
  await look()
  expect(await findLinePlace(world.ctx, ben.user.id)).toMatchObject({ position: 0 })
  await Promise.all([releaseGroups(world.ctx), releaseGroups(world.ctx)])
  const acts = await world.db.select().from(auditLog).where(eq(auditLog.subject, id))
  expect(acts.map(({ act, actor, detail }) => [act, actor, JSON.parse(detail ?? '')])).toEqual([
    ['make_group', 'user_admin', expect.objectContaining({ name: 'Competition', count: 1, people: 1, code: false })],
    ['release_group', 'script', { name: 'Competition', unused: 1 }],
  ])
})

test('ends early, once', async () => {
  await freshPlaces(world, 1)
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  const { id } = await group({ people: [ada] })
  await expect(pressStart(world, ben)).rejects.toMatchObject(UNAVAILABLE)
  await endGroup(hand, id)
  await pressStart(world, ben)
  await expect(endGroup(hand, id)).rejects.toMatchObject({ code: 'conflict' })
  await expect(endGroup(hand, 'grp_none')).rejects.toMatchObject({ code: 'not_found' })
  await releaseGroups(world.ctx)
  const acts = await world.db.select().from(auditLog).where(eq(auditLog.subject, id))
  expect(acts.map(({ act }) => act)).toEqual(['make_group', 'end_group'])
})

test.each([
  ['name', { name: ' ' }],
  ['name', { name: 'x'.repeat(81) }],
  ['gpus', { gpus: 0 }],
  ['places', { places: 0 }],
  ['places', { places: 501 }],
  ['places', { places: 1.5 }],
  ['from', { from: 'Saturday' }],
  ['from', { from: '2100-02-31T09:00', until: '2100-03-05T09:00' }],
  ['until', { until: '' }],
  ['until', { from: '2100-01-01T09:00', until: '2100-01-01T09:00' }],
  ['until', { from: '2000-01-01T09:00', until: '2000-01-01T12:00' }],
  ['until', { from: '2100-01-01T09:00', until: '2100-01-15T09:01' }],
  ['people', { people: 'ada@example.com, nobody' }],
  ['people', { people: '', withCode: false }],
])('refuses a group with a wrong %s: %o', async (field, wrong) => {
  const fine = { name: 'Class', gpus: 1, places: 1, from: '2100-01-01T09:00', until: '2100-01-15T09:00' }
  const input = { ...fine, people: 'ada@example.com', withCode: false, ...wrong }
  await expect(makeGroup(hand, input)).rejects.toMatchObject({ code: 'invalid', field })
  expect(await world.db.$count(lineGroups)).toBe(0)
})

test('takes the longest and the smallest that are allowed', async () => {
  await makeGroup(hand, {
    name: 'x'.repeat(80),
    gpus: 1,
    places: 500,
    from: '2100-01-01T09:00',
    until: '2100-01-15T09:00',
    people: 'Ada@Example.com ada@example.com',
    withCode: false,
  })
  expect(await world.db.select({ email: lineGroupPeople.email }).from(lineGroupPeople)).toEqual([
    { email: 'ada@example.com' },
  ])
})
