import { and, eq, inArray, isNull, like, sql } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { writeBatch } from '../../../../db/client.ts'
import { auditLog, line, lineGroupPeople, lineGroups, lineTurns, places, users } from '../../../../db/schema.ts'
import { HOUR_MS, toIso } from '../../../../src/domain/instant.ts'
import { NO_WISHES } from '../../../../src/domain/run-wishes.ts'
import { getAllowance } from '../../../../src/server/billing/allowance.ts'
import type { Context } from '../../../../src/server/context.ts'
import { findAvailability } from '../../../../src/server/fleet/availability.ts'
import { enterGroupCode } from '../../../../src/server/fleet/line/group-code.ts'
import { endGroup, listGroups, makeGroup, releaseGroups } from '../../../../src/server/fleet/line/groups.ts'
import { joinLine } from '../../../../src/server/fleet/line/join.ts'
import { findLinePlace } from '../../../../src/server/fleet/line/show.ts'
import { retirePlace } from '../../../../src/server/fleet/places.ts'
import { startRun } from '../../../../src/server/fleet/start-run.ts'
import { LINE } from '../../../../src/server/ports/objects.ts'
import { memoryCounters } from '../../../../testing/stack/counters.ts'
import { memoryDatabase } from '../../../../testing/stack/memory-database.ts'
import { freshPlaces, latestRun, newCustomer, runsOf } from '../../../../testing/world/fleet.ts'
import { finishJobs, pressStart, pressStop, running, settle } from '../../../../testing/world/play.ts'
import { openWorld } from '../../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())
/** With counters of guesses. */
const ctx = { ...world.ctx, counter: memoryCounters() }
const hand = { db: world.db, now: () => world.clock.ms, by: { id: 'user_admin', reason: 'Class' } }
type Customer = Awaited<ReturnType<typeof newCustomer>>

beforeEach(async () => {
  await writeBatch(world.db, [
    world.db.delete(line),
    world.db.delete(lineTurns),
    world.db.delete(lineGroupPeople),
    world.db.delete(lineGroups),
    world.db.update(places).set({
      retiredAt: 1,
      reservedBy: sql`CASE WHEN reserved_by LIKE 'user_%' THEN NULL ELSE reserved_by END`,
    }),
  ])
})

type Wanted = { count?: number; people?: Customer[]; fromMs?: number; ms?: number; gpus?: number; withCode?: boolean }

function group({ count = 1, people = [], fromMs = 0, ms = HOUR_MS, gpus = 1, withCode = !people.length }: Wanted = {}) {
  const now = world.clock.ms
  return makeGroup(hand, {
    name: 'Competition',
    gpus,
    places: count,
    from: toIso(now + fromMs),
    until: toIso(now + fromMs + ms),
    people: people.map(({ user }) => user.email).join('\n'),
    withCode,
  })
}

const customers = (count: number) => Promise.all(Array.from({ length: count }, () => newCustomer(world)))
const join = (one: Customer, start = false) => joinLine(world.ctx, one, NO_WISHES, start)
const isFree = async (one: Customer, ctx: Context = world.ctx) => {
  const allowed = await getAllowance(ctx, one.user.id)
  return (await findAvailability(ctx, one.user.id, allowed)).ServerAvailable
}
const shown = async (ctx: Context = world.ctx) => {
  const [first] = await listGroups(ctx)
  return { used: first?.used, held: first?.held, missing: first?.missing, state: first?.state }
}
async function end(one: Customer) {
  await pressStop(world, one)
  await settle(world, one)
}
async function look() {
  await world.ring(LINE)
  await world.process.settle()
}
const UNAVAILABLE = { code: 'unavailable' }

test('holds its places back from the exact start to the exact end, for its people only', async () => {
  await freshPlaces(world, 2)
  const [ada, ben, cleo] = (await customers(3)) as [Customer, Customer, Customer]
  const { startsAt, endsAt } = await group({ count: 2, people: [ada], fromMs: 60_000 })
  // The world's clock moves on with every call.
  const at = (ms: number) => ({ ...world.ctx, now: () => ms })
  const start = (one: Customer, ms: number) => startRun(at(ms), one)
  const states = async (ms: number) => [await shown(at(ms)), await isFree(ada, at(ms)), await isFree(ben, at(ms))]
  expect(await states(startsAt - 1)).toEqual([{ state: 'upcoming', used: 0, held: 0, missing: 0 }, true, true])
  expect(await states(startsAt)).toEqual([{ state: 'on', used: 0, held: 2, missing: 0 }, true, false])
  await expect(start(ben, startsAt)).rejects.toMatchObject(UNAVAILABLE)
  await start(ada, startsAt)
  expect(await states(endsAt - 1)).toEqual([{ state: 'on', used: 1, held: 1, missing: 0 }, true, false])
  await expect(start(ben, endsAt - 1)).rejects.toMatchObject(UNAVAILABLE)
  expect(await states(endsAt)).toEqual([{ state: 'ended', used: 0, held: 0, missing: 0 }, true, true])
  await start(ben, endsAt)
  await expect(start(cleo, endsAt)).rejects.toMatchObject(UNAVAILABLE)
  // Ada's server keeps running.
  expect(await latestRun(world, ada.user.id)).toMatchObject({ endedAt: null, stopRequestedAt: null })
})

test('leaves everyone what it does not need', async () => {
  await freshPlaces(world, 3)
  const [ada, ben, cleo] = (await customers(3)) as [Customer, Customer, Customer]
  await group({ count: 2, people: [ada] })
  await pressStart(world, ben)
  await expect(pressStart(world, cleo)).rejects.toMatchObject(UNAVAILABLE)
  // One of its two places is Ada's now: the group still holds one back.
  await pressStart(world, ada)
  await expect(pressStart(world, cleo)).rejects.toMatchObject(UNAVAILABLE)
})

test('takes what frees before the line does, and ends nobody’s server', async () => {
  const [owner, other] = (await customers(2)) as [Customer, Customer]
  await freshPlaces(world, 2)
  await running(world, owner)
  await running(world, other)
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  await join(ben)
  await group({ people: [ada] })
  expect(await shown()).toMatchObject({ used: 0, held: 0, missing: 1 })
  await end(owner)
  expect(await shown()).toMatchObject({ used: 0, held: 1, missing: 0 })
  await look()
  expect(await findLinePlace(world.ctx, ben.user.id)).toMatchObject({ position: 1 })
  // The next one is the line's, in the write that frees it.
  await end(other)
  expect(await world.db.$count(places, eq(places.reservedBy, ben.user.id))).toBe(1)
  expect(await shown()).toMatchObject({ held: 1 })
  await pressStart(world, ada)
  expect((await runsOf(world, ada.user.id)).length).toBe(1)
})

test('gives unused places to the line within a look of its end, and says so in the audit log once', async () => {
  await freshPlaces(world, 1)
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  const { id, endsAt } = await group({ people: [ada] })
  await join(ben)
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

test('a place that one of its people stops using is the group’s again', async () => {
  await freshPlaces(world, 1)
  const [ada, bea, ben] = (await customers(3)) as [Customer, Customer, Customer]
  await group({ people: [ada, bea] })
  await running(world, ada)
  await join(ben)
  await end(ada)
  expect(await shown()).toEqual({ state: 'on', used: 0, held: 1, missing: 0 })
  await expect(pressStart(world, ben)).rejects.toMatchObject(UNAVAILABLE)
  await pressStart(world, bea)
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

test('one of its people in line gets the next place, also while others wait', async () => {
  const [owner, ada, ben] = (await customers(3)) as [Customer, Customer, Customer]
  await freshPlaces(world, 1)
  await running(world, owner)
  await join(ben)
  world.advance(1)
  await join(ada)
  await group({ people: [ada] })
  await end(owner)
  expect(await world.db.$count(places, eq(places.reservedBy, ada.user.id))).toBe(1)
  expect(await shown()).toMatchObject({ used: 1, held: 0, missing: 0 })
})

test('one of its people does not wait in line while it has a free place', async () => {
  await freshPlaces(world, 1)
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  await group({ people: [ada] })
  await expect(join(ada)).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('free for you') })
  expect(await join(ben)).toMatchObject({ position: 1 })
})

test('its people cannot take more than its places while others wait', async () => {
  const [owner, second, ada, bea, ben] = (await customers(5)) as [Customer, Customer, Customer, Customer, Customer]
  await freshPlaces(world, 2)
  await running(world, owner)
  await running(world, second)
  await group({ people: [ada, bea] })
  await end(owner)
  await running(world, ada)
  await join(ben)
  await end(second)
  // The group has its place: this one is Ben's, and Bea waits behind him.
  await expect(pressStart(world, bea)).rejects.toMatchObject(UNAVAILABLE)
  expect(await world.db.$count(places, eq(places.reservedBy, ben.user.id))).toBe(1)
})

test('a click of one of its people never passes another of them in line', async () => {
  const [owner, ada, bea, ben] = (await customers(4)) as [Customer, Customer, Customer, Customer]
  await freshPlaces(world, 1)
  await running(world, owner)
  await join(ada)
  await join(ben)
  await group({ people: [ada, bea] })
  // As when a place comes back by itself: nothing was written at that moment.
  await freshPlaces(world, 1)
  await expect(pressStart(world, bea)).rejects.toMatchObject(UNAVAILABLE)
  await look()
  expect(await world.db.$count(places, eq(places.reservedBy, ada.user.id))).toBe(1)
})

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

test('a click of its people takes its place even while a place is about to go to the line', async () => {
  const [owner, ada, ben] = (await customers(3)) as [Customer, Customer, Customer]
  await freshPlaces(world, 1)
  await running(world, owner)
  await join(ben)
  await group({ people: [ada] })
  await freshPlaces(world, 2)
  await pressStart(world, ada)
  await look()
  expect(await world.db.$count(places, eq(places.reservedBy, ben.user.id))).toBe(1)
})

test('places held back for a group keep no other place from the line', async () => {
  await freshPlaces(world, 21, 20)
  const [owner, ben] = (await customers(2)) as [Customer, Customer]
  await pressStart(world, owner)
  const large = await newCustomer(world, { premium: true })
  await group({ count: 20, gpus: 4 })
  await join(ben)
  await join(large)
  await freshPlaces(world, 1)
  await world.db.update(places).set({ reservedBy: null }).where(eq(places.gpus, 4))
  await look()
  expect(await world.db.$count(places, eq(places.reservedBy, ben.user.id))).toBe(1)
  expect(await findLinePlace(world.ctx, large.user.id)).toMatchObject({ size: 4, position: 1 })
})

test('a retired place is no group’s', async () => {
  const [first = ''] = await freshPlaces(world, 2)
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  await group({ people: [ada] })
  await retirePlace(hand, first)
  expect(await shown()).toMatchObject({ held: 1, missing: 0 })
  await expect(pressStart(world, ben)).rejects.toMatchObject(UNAVAILABLE)
  await pressStart(world, ada)
})

test('places of another size are another matter', async () => {
  await freshPlaces(world, 4, 2)
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  const [large, another] = [await newCustomer(world, { premium: true }), await newCustomer(world, { premium: true })]
  await group({ people: [ada] })
  world.advance(1)
  await group({ people: [large], gpus: 4 })
  await pressStart(world, ben)
  expect((await pressStart(world, another)).run.instanceType).toBe('g6.12xlarge')
  await expect(pressStart(world, await newCustomer(world, { premium: true }))).rejects.toMatchObject(UNAVAILABLE)
  expect((await pressStart(world, large)).run.instanceType).toBe('g6.12xlarge')
})

test('a start that must move on takes no place of a group', async () => {
  const [first = '', second = ''] = await freshPlaces(world, 2)
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  await pressStart(world, ben, first)
  await group({ people: [ada] })
  world.ec2.inject('InsufficientInstanceCapacity', 1)
  await finishJobs(world, ben)
  expect((await latestRun(world, ben.user.id)).errorMessage).toContain('All servers are reserved')
  expect((await pressStart(world, ada)).run.placeId).toBe(second)
})

test('a code lets its people in, however they write it, and only until the end', async () => {
  await freshPlaces(world, 2)
  const [ada, ben, cleo] = (await customers(3)) as [Customer, Customer, Customer]
  const { code, endsAt } = await group({ count: 2, fromMs: 1_000 })
  expect(code).toMatch(/^[A-Z]{4}-[A-Z]{4}$/)
  await enterGroupCode(ctx, ada.user.id, ` ${code?.toLowerCase().replace('-', ' ')}`)
  await enterGroupCode(ctx, ada.user.id, code ?? '')
  world.advance(1)
  expect([await isFree(ada), await isFree(ben)]).toEqual([true, false])
  const at = (ms: number) => ({ ...ctx, now: () => ms })
  await enterGroupCode(at(endsAt - 1), ben.user.id, code ?? '')
  await expect(enterGroupCode(at(endsAt), cleo.user.id, code ?? '')).rejects.toMatchObject({ code: 'invalid' })
  expect(await world.db.$count(lineGroupPeople)).toBe(2)
})

test('a code cannot be guessed, and admits one account of a mailbox', async () => {
  await freshPlaces(world, 1)
  const [ada, twin, cheat] = (await customers(3)) as [Customer, Customer, Customer]
  await world.db
    .update(users)
    .set({ mailbox: 'same' })
    .where(inArray(users.id, [ada.user.id, twin.user.id]))
  const { code } = await group()
  await enterGroupCode(ctx, ada.user.id, code ?? '')
  await expect(enterGroupCode(ctx, twin.user.id, code ?? '')).rejects.toMatchObject({ code: 'invalid' })
  const codes: string[] = []
  for (let n = 0; n < 40; n++)
    await enterGroupCode(ctx, cheat.user.id, `BBBB-BB${n % 2 ? 'BC' : 'CB'}`).catch((error) => codes.push(error.code))
  expect(codes[0]).toBe('invalid')
  expect(codes.at(-1)).toBe('too_many')
  // Not even the right one then.
  await expect(enterGroupCode(ctx, cheat.user.id, code ?? '')).rejects.toMatchObject({ code: 'too_many' })
})

test('a code is no plan', async () => {
  await freshPlaces(world, 1)
  const over = await newCustomer(world, { demo: true, secondsUsed: 1_800 })
  const { code } = await group()
  await enterGroupCode(ctx, over.user.id, code ?? '')
  await expect(pressStart(world, over)).rejects.toMatchObject({ code: 'payment_required' })
})

test.each([
  ['name', { name: ' ' }],
  ['name', { name: 'x'.repeat(81) }],
  ['gpus', { gpus: 0 }],
  ['places', { places: 0 }],
  ['places', { places: 501 }],
  ['places', { places: 1.5 }],
  ['from', { from: 'Saturday' }],
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

test('twenty of its people at once take twenty places, and not one more', async () => {
  await freshPlaces(world, 6)
  const people = await customers(5)
  const others = await customers(5)
  await group({ count: 4, people })
  await Promise.allSettled([...others, ...people].map((one) => pressStart(world, one)))
  const taken = async (group: Customer[]) =>
    (await Promise.all(group.map(({ user }) => runsOf(world, user.id)))).flat().length
  expect(await taken(people)).toBeGreaterThanOrEqual(4)
  expect(await taken(others)).toBeLessThanOrEqual(2)
  expect((await taken(people)) + (await taken(others))).toBe(6)
  expect(await world.db.$count(places, and(isNull(places.retiredAt), like(places.reservedBy, 'ses_%')))).toBe(6)
})
