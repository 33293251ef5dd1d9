import { and, eq, sql } from 'drizzle-orm'
import { beforeEach, expect, test, vi } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { lineGroupPeople, lineGroups } from '../../../../db/schema/line.ts'
import { notices, outbox } from '../../../../db/schema/mail.ts'
import { auditLog } from '../../../../db/schema/operations.ts'
import { HOUR_MS, toIso } from '../../../../src/domain/instant.ts'
import { NO_WISHES } from '../../../../src/domain/run-wishes.ts'
import { addPeople, getGroup, removePeople, tellGroups } from '../../../../src/server/fleet/line/group-people.ts'
import { changeGroup, endGroup, makeGroup, releaseGroups } from '../../../../src/server/fleet/line/groups.ts'
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
    ['make_group', 'user_admin', expect.objectContaining({ name: 'Competition', servers: 1, people: 1, code: false })],
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

test('prolongs a group and tells its people once, as it is by then', async () => {
  await freshPlaces(world, 1)
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  const group1 = await group({ people: [ada] })
  const change = { name: 'Class', gpus: 1, places: 1, from: '', until: toIso(group1.endsAt + HOUR_MS) }
  await changeGroup(hand, group1.id, change)
  await Promise.all([tellGroups(world.ctx), tellGroups(world.ctx)])
  expect(await heard(ada)).toEqual(['We hold servers for Class'])
  await expect(changeGroup(hand, group1.id, change)).rejects.toMatchObject({ code: 'conflict' })
  await changeGroup(hand, group1.id, { ...change, places: 2 })
  await tellGroups(world.ctx)
  await tellGroups(world.ctx)
  expect(await heard(ada)).toEqual(['We hold servers for Class', 'Changed: Class'])
  world.clock.ms = group1.endsAt
  await releaseGroups(world.ctx)
  await expect(pressStart(world, ben)).rejects.toMatchObject(UNAVAILABLE)
  await expect(changeGroup(hand, group1.id, { ...change, from: toIso(world.clock.ms) })).rejects.toMatchObject({
    code: 'invalid',
    field: 'from',
  })
  await endGroup(hand, group1.id)
  await tellGroups(world.ctx)
  expect((await heard(ada)).at(-1)).toBe('Class ended early')
  await expect(changeGroup(hand, group1.id, change)).rejects.toMatchObject({ code: 'conflict' })
})

test('does not tell of a change that another one replaced while it was written', async () => {
  const [ada] = await customers(1)
  const { id, endsAt } = await group({ people: [ada] })
  await tellGroups(world.ctx)
  const change = { name: 'Class', gpus: 1, places: 2, from: '', until: toIso(endsAt) }
  await changeGroup(hand, id, change)
  const { $client } = world.db
  const batch = vi.spyOn($client, 'batch')
  batch.mockImplementationOnce(async (...sent) => {
    await changeGroup(hand, id, { ...change, places: 3 })
    return $client.batch(...sent)
  })
  await tellGroups(world.ctx)
  await tellGroups(world.ctx)
  const told = await world.db.select().from(notices).where(eq(notices.userId, ada.user.id))
  expect(told.filter(({ title }) => title === 'Changed: Class').map(({ text }) => text)).toEqual([
    expect.stringContaining('3 servers'),
  ])
})

test('invites people without an account by email, and tells those it removes', async () => {
  await freshPlaces(world, 1)
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  const { id } = await group({ people: [ada] })
  await tellGroups(world.ctx)
  await addPeople(hand, id, `New@example.com, ${ben.user.email} ${ada.user.email}`)
  await tellGroups(world.ctx)
  const [audited] = await world.db
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.subject, id), eq(auditLog.act, 'change_group')))
  expect(JSON.parse(audited?.detail ?? '')).toEqual({ added: 2 })
  expect(await mailed('new@example.com')).toEqual([["You're invited to Competition", null]])
  expect([await heard(ada), await heard(ben)]).toEqual(Array(2).fill(['We hold servers for Competition']))
  await removePeople(world.ctx, hand, id, [ada.user.email])
  expect((await heard(ada)).at(-1)).toBe("You're no longer in Competition")
  await expect(pressStart(world, ada)).rejects.toMatchObject(UNAVAILABLE)
  await pressStart(world, ben)
  const { people } = await getGroup(world.ctx, id)
  expect(people.map(({ email, userId, hasServer }) => [email, userId !== null, hasServer])).toEqual(
    [
      [ben.user.email, true, true],
      ['new@example.com', false, false],
    ].toSorted(),
  )
})

test('invites who signed up without confirming, and says nothing to who is removed before they hear of it', async () => {
  const [ada, cleo] = (await customers(2)) as [Customer, Customer]
  await world.db.update(users).set({ confirmedAt: null }).where(eq(users.id, cleo.user.id))
  const { id } = await group({ people: [ada, cleo] })
  await addPeople(hand, id, 'early@example.com')
  expect(await removePeople(world.ctx, hand, id, [ada.user.email, 'early@example.com'])).toBeNull()
  await tellGroups(world.ctx)
  expect([await heard(ada), await heard(cleo)]).toEqual([[], []])
  expect(await mailed('early@example.com')).toEqual([])
  expect(await mailed(cleo.user.email)).toContainEqual(["You're invited to Competition", null])
})

test.each([
  ['no address', ' '],
  ['no email address', 'ada'],
  ['one too many', Array.from({ length: 1_000 }, (_, n) => `p${n}@example.com`).join()],
])('adds nobody with %s', async (_, text) => {
  const { id } = await group({ people: await customers(1) })
  await expect(addPeople(hand, id, text)).rejects.toMatchObject({ code: 'invalid', field: 'people' })
  await addPeople(hand, id, text.startsWith('p') ? text.slice(text.indexOf(',') + 1) : 'b@example.com')
})

const mailed = async (to: string) =>
  (await world.db.select().from(outbox).where(eq(outbox.recipient, to))).map(({ subject, offUrl }) => [subject, offUrl])

/** What they found under the bell. */
async function heard({ user }: Customer): Promise<string[]> {
  const told = await world.db.select().from(notices).where(eq(notices.userId, user.id)).orderBy(sql`rowid`)
  const mails = await world.db.select().from(outbox).where(eq(outbox.recipient, user.email))
  const titles = told.map(({ title }) => title)
  expect(mails.map(({ subject }) => subject).filter((subject) => titles.includes(subject))).toHaveLength(titles.length)
  return titles
}

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
