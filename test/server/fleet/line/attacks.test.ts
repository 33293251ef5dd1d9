import { eq } from 'drizzle-orm'
import { beforeEach, expect, test, vi } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { places } from '../../../../db/schema/fleet.ts'
import { line, lineWaits } from '../../../../db/schema/line.ts'
import { HOLD_MS } from '../../../../src/domain/line.ts'
import { NO_WISHES } from '../../../../src/domain/run-wishes.ts'
import { joinLine, leaveLine } from '../../../../src/server/fleet/line/join.ts'
import { findLinePlace } from '../../../../src/server/fleet/line/show.ts'
import { startRun } from '../../../../src/server/fleet/start-run.ts'
import { type Customer, freshPlaces, newCustomer, runsOf } from '../../../../testing/world/fleet.ts'
import { openGroups } from '../../../../testing/world/groups.ts'
import { pressStart, running, settle } from '../../../../testing/world/play.ts'

const { world, empty, end, look } = await openGroups()
beforeEach(empty)

/** Someone with the only place. */
async function newOwner() {
  const [placeId = ''] = await freshPlaces(world, 1)
  const owner = await newCustomer(world)
  await running(world, owner)
  return { owner, placeId }
}

const join = (one: Customer, start = false, maxGpus: number | null = null) =>
  joinLine(world.ctx, one, { ...NO_WISHES, maxGpus }, start)
const leave = ({ user }: Customer) => leaveLine(world.ctx, user.id)
const placeOf = ({ user }: Customer) => findLinePlace(world.ctx, user.id)
const holderOf = async (id: string) => (await world.db.select().from(places).where(eq(places.id, id)))[0]?.reservedBy
const UNAVAILABLE = { code: 'no_capacity' }

test('a token that leaves and joins in a loop stands last, and no estimate learns from it', async () => {
  const { owner, placeId } = await newOwner()
  const [cheat, ada] = [await newCustomer(world), await newCustomer(world)]
  await join(cheat)
  world.advance(120)
  await join(ada)
  for (let n = 0; n < 20; n++) {
    if (n) await leave(cheat)
    await leave(cheat)
    world.advance(1)
    expect(await join(cheat)).toMatchObject({ position: 2 })
  }
  // Only the first wait, of two minutes, was one.
  expect(await world.db.$count(lineWaits)).toBe(1)
  await end(owner)
  expect(await holderOf(placeId)).toBe(ada.user.id)
})

test('joining and leaving in a loop costs nobody else a row until the next look, and ends at 60 an hour', async () => {
  await newOwner()
  const [ada, ben] = [await newCustomer(world), await newCustomer(world)]
  await join(ada)
  await join(ben)
  await leave(ada)
  expect(await join(ada)).toMatchObject({ position: 2 })
  expect(await placeOf(ben)).toMatchObject({ position: 2 })
  await leave(ada)
  await look()
  expect(await placeOf(ben)).toMatchObject({ position: 1 })
  expect(world.toldLine.findLast(({ userId }) => userId === ben.user.id)?.line).toMatchObject({ position: 1 })
  const wake = vi.fn()
  const lineKeeper = { ...world.ctx.lineKeeper, wake }
  await leaveLine({ ...world.ctx, lineKeeper }, ada.user.id)
  expect(wake).not.toHaveBeenCalled()
  for (let n = 2; n < 60; n++) await join(ada)
  await expect(join(ada)).rejects.toMatchObject({ code: 'too_many' })
})

test('joining in two tabs at once is one place in line', async () => {
  await newOwner()
  const [ada, ben] = [await newCustomer(world), await newCustomer(world)]
  await join(ben)
  world.advance(1)
  await Promise.all([join(ada), join(ada, true), join(ada)])
  expect(await world.db.$count(line)).toBe(2)
  expect(await placeOf(ada)).toMatchObject({ position: 2 })
})

test('Start in two tabs makes one server of a held place, and takes no second place that nobody waits for', async () => {
  const { owner, placeId } = await newOwner()
  const ada = await newCustomer(world)
  await join(ada)
  await end(owner)
  await look()
  const [other = ''] = await freshPlaces(world, 1)
  const starts = await Promise.allSettled([
    startRun(world.ctx, ada),
    startRun(world.ctx, ada),
    startRun(world.ctx, ada),
  ])
  expect(starts.map((start) => (start.status === 'rejected' ? start.reason.code : 'started')).toSorted()).toEqual([
    'has_server',
    'has_server',
    'started',
  ])
  expect((await runsOf(world, ada.user.id)).map((run) => run.placeId)).toEqual([placeId])
  expect(await holderOf(other)).toBeNull()
  await settle(world, ada)
})

test('a mailbox waits in line once, however many accounts it has, and even if they join at once', async () => {
  const { owner, placeId } = await newOwner()
  const [ada, twin, third, ben] = [
    await newCustomer(world),
    await newCustomer(world),
    await newCustomer(world),
    await newCustomer(world),
  ]
  for (const { user } of [ada, twin, third])
    await world.db.update(users).set({ mailbox: 'adas' }).where(eq(users.id, user.id))
  await world.db.update(users).set({ mailbox: 'bens' }).where(eq(users.id, ben.user.id))
  const all = await Promise.allSettled([join(ada), join(twin), join(third)])
  expect(all.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected'])
  expect(all.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'conflict', message: expect.stringContaining('Another account of your mailbox') },
  })
  const [first, second] = all[0]?.status === 'fulfilled' ? [ada, twin] : [twin, ada]
  expect(await join(ben)).toMatchObject({ position: 2 })
  // The one that waits may still change its mind, and a held place counts as well.
  expect(await join(first, true)).toMatchObject({ position: 1, starts_by_itself: true })
  await join(first)
  await end(owner)
  expect(await holderOf(placeId)).toBe(first.user.id)
  await expect(join(second)).rejects.toMatchObject({ code: 'conflict' })
  // One that has a server waits no longer.
  await pressStart(world, first)
  expect(await join(second)).toMatchObject({ position: 2 })
  await settle(world, first)
})

test('someone who holds and never starts is passed on to each time, then waits last, then not at all', async () => {
  const { owner, placeId } = await newOwner()
  const [cheat, ada] = [await newCustomer(world), await newCustomer(world)]
  await join(cheat)
  await end(owner)
  const lapse = async () => {
    await look()
    world.clock.ms += HOLD_MS
    await look()
    await look()
  }
  await lapse()
  await lapse()
  expect(await holderOf(placeId)).toBe(cheat.user.id)
  // Ada comes after two lapsed holds: the next one is hers.
  await join(ada)
  expect(await placeOf(cheat)).toMatchObject({ position: 0 })
  await lapse()
  expect(await holderOf(placeId)).toBe(ada.user.id)
  expect(await placeOf(cheat)).toBeNull()
})

test('the hold of a large place yields no small one that others wait for', async () => {
  const [small = '', large = ''] = await freshPlaces(world, 2, 1)
  const [owner, big] = [await newCustomer(world), await newCustomer(world, { premium: true })]
  await running(world, owner)
  await running(world, big)
  const [cheat, ada] = [await newCustomer(world, { premium: true }), await newCustomer(world)]
  expect(await join(cheat)).toMatchObject({ size: 4 })
  world.advance(1)
  await join(ada)
  await end(big)
  await look()
  expect(await holderOf(large)).toBe(cheat.user.id)
  // As when a place comes back by itself: nothing was written at that moment.
  const [free = ''] = await freshPlaces(world, 1)
  const wishes = { ...NO_WISHES, maxGpus: 1 }
  await expect(startRun(world.ctx, cheat, null, null, wishes)).rejects.toMatchObject(UNAVAILABLE)
  await expect(pressStart(world, cheat, free)).rejects.toMatchObject(UNAVAILABLE)
  await look()
  expect(await holderOf(free)).toBe(ada.user.id)
  expect(await holderOf(small)).toMatch(/^ses_/)
  await end(owner)
  expect(await runsOf(world, cheat.user.id)).toEqual([])
})
