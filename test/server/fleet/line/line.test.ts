import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { writeBatch } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { plans } from '../../../../db/schema/billing.ts'
import { environments, places, runs, secrets } from '../../../../db/schema/fleet.ts'
import { line, lineTurns } from '../../../../db/schema/line.ts'
import { HOLD_MS, nextInLine } from '../../../../src/domain/line.ts'
import { NO_WISHES } from '../../../../src/domain/run-wishes.ts'
import { revokeTokensQuery } from '../../../../src/server/accounts/api-tokens.ts'
import { newPasswordQueries } from '../../../../src/server/accounts/credentials/challenges.ts'
import { joinLine, leaveLine } from '../../../../src/server/fleet/line/join.ts'
import { keepLine, LINE_EVERY_MS } from '../../../../src/server/fleet/line/keep.ts'
import { findLinePlace } from '../../../../src/server/fleet/line/show.ts'
import { endedQuery, passOnQueries } from '../../../../src/server/fleet/line/turns.ts'
import { drainPlace, resumePlace } from '../../../../src/server/fleet/places.ts'
import { LINE } from '../../../../src/server/ports/objects.ts'
import { seededRandom } from '../../../../testing/random.ts'
import {
  type Customer,
  freshPlaces,
  giveToken,
  latestRun,
  newCustomer,
  runsOf,
} from '../../../../testing/world/fleet.ts'
import { openGroups } from '../../../../testing/world/groups.ts'
import { finishJobs, pressStart, running, settle } from '../../../../testing/world/play.ts'

const { world, empty, end, look } = await openGroups()

/** A fleet whose places all run someone's server, and nobody in line. */
async function fullFleet(count = 1, large = 0) {
  await empty()
  await freshPlaces(world, count, large)
  const owners: Customer[] = []
  for (let i = 0; i < count; i++) {
    const owner = await newCustomer(world, { premium: i >= count - large })
    await running(world, owner)
    owners.push(owner)
  }
  return owners as [Customer, Customer]
}

async function join(customer: Customer, { start = true, maxGpus = null as number | null } = {}) {
  const place = await joinLine(world.ctx, customer, { ...NO_WISHES, maxGpus }, start)
  await world.process.settle()
  return place
}

const STARTING = 'Your server is starting'
const placeOf = (customer: Customer) => findLinePlace(world.ctx, customer.user.id)
const holderOf = async (placeId: string | undefined) =>
  (
    await world.db
      .select()
      .from(places)
      .where(eq(places.id, placeId ?? ''))
  )[0]?.reservedBy
const mailsTo = ({ user }: Customer) => world.mails.filter(({ to }) => to === user.email).map(({ subject }) => subject)

test('the write that frees a place gives it to the first in line, before any click', async () => {
  const [owner] = await fullFleet()
  const [ada, ben, clicker] = [await newCustomer(world), await newCustomer(world), await newCustomer(world)]
  expect((await join(ada, { start: false })).position).toBe(1)
  expect((await join(ben, { start: false })).position).toBe(2)
  const { placeId } = await latestRun(world, owner.user.id)
  await end(owner)
  expect(await holderOf(placeId)).toBe(ada.user.id)
  await expect(pressStart(world, clicker)).rejects.toMatchObject({ code: 'no_capacity' })
  await expect(pressStart(world, ben, placeId)).rejects.toMatchObject({ code: 'no_capacity' })
  await look()
  expect(await placeOf(ada)).toMatchObject({ position: 0, starts_by_itself: false, held_until: expect.any(String) })
  expect(await placeOf(ben)).toMatchObject({ position: 1 })
  const { run } = await pressStart(world, ada)
  expect(run.placeId).toBe(placeId)
  await finishJobs(world, ada)
  expect(await placeOf(ada)).toBeNull()
  await end(ada)
  expect(await holderOf(placeId)).toBe(ben.user.id)
})

test('starts the server of those who chose that, within seconds, and tells them', async () => {
  const [owner] = await fullFleet()
  const ada = await newCustomer(world)
  await join(ada)
  await end(owner)
  const freed = world.clock.ms
  expect(world.nextAlarm(LINE) ?? Infinity).toBeLessThanOrEqual(freed + LINE_EVERY_MS)
  await look()
  await finishJobs(world, ada)
  expect((await latestRun(world, ada.user.id)).billedFrom).not.toBeNull()
  expect(world.toldLine.findLast(({ userId }) => userId === ada.user.id)?.line).toBeNull()
  expect(await placeOf(ada)).toBeNull()
  // Nobody waits, so nothing looks, however long her server runs.
  await look()
  expect(mailsTo(ada).filter((subject) => subject === STARTING)).toHaveLength(1)
  expect(await world.db.$count(line)).toBe(0)
  expect(world.nextAlarm(LINE)).toBeNull()
  await end(ada)
})

test('what an API token waits for ends with it, and a new password holds a place instead of starting', async () => {
  const [owner] = await fullFleet()
  const { placeId } = await latestRun(world, owner.user.id)
  const [ada, ben] = [await newCustomer(world), await newCustomer(world)]
  await giveToken(world, ada, 'CI')
  await joinLine(world.ctx, { ...ada, tokenName: 'CI' }, NO_WISHES, true)
  await join(ben)
  await look()
  expect(await placeOf(ada)).toMatchObject({ position: 1 })
  const set = (user: Customer) => newPasswordQueries(world.ctx, user.user.id, sql`1`)
  await writeBatch(world.db, [revokeTokensQuery(world.ctx, ada.user.id), ...set(ben)])
  await end(owner)
  expect(await holderOf(placeId)).toBe(ben.user.id)
  await look()
  expect([await placeOf(ada), await runsOf(world, ada.user.id), await runsOf(world, ben.user.id)]).toEqual([
    null,
    [],
    [],
  ])
  expect(await placeOf(ben)).toMatchObject({ position: 0, starts_by_itself: false })
})

test('a new password that comes between the look and the write of a start holds the place, too', async () => {
  const [owner] = await fullFleet()
  const ada = await newCustomer(world)
  await join(ada)
  await end(owner)
  const channel: typeof world.ctx.channel = (id) => {
    const real = world.ctx.channel(id)
    const arm = async () => {
      await writeBatch(world.db, newPasswordQueries(world.ctx, ada.user.id, sql`1`))
      return real.arm(id)
    }
    return { ...real, arm }
  }
  await keepLine({ ...world.ctx, channel })
  await look()
  expect(await runsOf(world, ada.user.id)).toEqual([])
  expect(await placeOf(ada)).toMatchObject({ position: 0, starts_by_itself: false, held_until: expect.any(String) })
})

test("after a new password, a start under way isn't repeated: without a machine, we hold the next turn", async () => {
  const owners = await fullFleet(2)
  const people = [await newCustomer(world), await newCustomer(world)] as const
  for (const one of people) await join(one)
  for (const owner of owners) await end(owner)
  await look()
  const [ada, ben] = people
  await writeBatch(world.db, newPasswordQueries(world.ctx, ada.user.id, sql`1`))
  for (const { user } of people) {
    const { id } = await latestRun(world, user.id)
    await world.db.update(runs).set({ endedAt: world.clock.ms }).where(eq(runs.id, id))
    await writeBatch(world.db, [endedQuery(world.ctx, id, true)])
  }
  expect([await placeOf(ada), await placeOf(ben)]).toMatchObject([
    { starts_by_itself: false },
    { starts_by_itself: true },
  ])
})

test('a click never takes a free place that someone waits for', async () => {
  await fullFleet()
  const [ada, clicker] = [await newCustomer(world), await newCustomer(world)]
  await join(ada)
  // As when a place comes back by itself: nothing was written at that moment.
  const [free] = await freshPlaces(world, 1)
  await expect(pressStart(world, clicker)).rejects.toMatchObject({ code: 'no_capacity' })
  await expect(join(clicker)).resolves.toMatchObject({ position: 2 })
  await look()
  expect((await latestRun(world, ada.user.id)).placeId).toBe(free)
  await settle(world, ada)
})

test('a place that EC2 refused goes to the line once we offer it again', async () => {
  const [owner] = await fullFleet()
  const { placeId } = await latestRun(world, owner.user.id)
  await world.db
    .update(places)
    .set({ setAsideUntil: world.clock.ms + 600_000 })
    .where(eq(places.id, placeId))
  const ada = await newCustomer(world)
  await join(ada, { start: false })
  await end(owner)
  expect(await holderOf(placeId)).toBeNull()
  const until = (await world.db.select().from(places).where(eq(places.id, placeId)))[0]?.setAsideUntil ?? 0
  while ((world.nextAlarm(LINE) ?? Infinity) <= until + 5_000) await look()
  expect(await holderOf(placeId)).toBe(ada.user.id)
})

test('a held place that lapses goes to the next; after two, you wait at the end; after three, no longer', async () => {
  const [owner] = await fullFleet()
  const { placeId } = await latestRun(world, owner.user.id)
  const [ada, ben] = [await newCustomer(world), await newCustomer(world)]
  await join(ada, { start: false })
  await join(ben, { start: false })
  await end(owner)
  await look()
  const heldUntil = Date.parse((await placeOf(ada))?.held_until ?? '')
  expect(heldUntil - world.clock.ms).toBeGreaterThan(HOLD_MS - 1_000)
  world.clock.ms = heldUntil - 1_000
  await look()
  expect(await holderOf(placeId)).toBe(ada.user.id)
  await look()
  expect(await holderOf(placeId)).toBe(ben.user.id)
  // Ada let one go: she is still the first, and gets it back when Ben lets his go.
  expect(await placeOf(ada)).toMatchObject({ position: 1 })
  const untilLapse = async () => {
    world.clock.ms += HOLD_MS
    await look()
    await look()
  }
  await look()
  await untilLapse()
  expect(await holderOf(placeId)).toBe(ada.user.id)
  await untilLapse()
  expect(await holderOf(placeId)).toBe(ben.user.id)
  expect(mailsTo(ada)).toContain('You moved to the end of the line')
  const cleo = await newCustomer(world)
  await join(cleo, { start: false })
  await untilLapse()
  // Ben moved to the end as well, after Ada, who moved before Cleo came.
  expect(await holderOf(placeId)).toBe(ada.user.id)
  await untilLapse()
  expect(await placeOf(ada)).toBeNull()
  expect(mailsTo(ada)).toContain('You left the line')
  expect(await holderOf(placeId)).toBe(cleo.user.id)
})

test('a hold that lapses is news at once, even if nobody else waits', async () => {
  const [owner] = await fullFleet()
  const ada = await newCustomer(world)
  await join(ada, { start: false })
  await end(owner)
  for (let lapses = 0; lapses < 3; lapses++) {
    await look()
    await look()
    world.clock.ms = Date.parse((await placeOf(ada))?.held_until ?? '')
  }
  await look()
  expect(await placeOf(ada)).toBeNull()
  expect(mailsTo(ada)).toContain('You left the line')
  expect(world.toldLine.findLast(({ userId }) => userId === ada.user.id)?.line).toBeNull()
})

test('an account has one place, whatever it does; only another size moves it to an end', async () => {
  await fullFleet(2, 1)
  const [ada, ben] = [await newCustomer(world, { premium: true }), await newCustomer(world, { premium: true })]
  expect(await join(ada, { maxGpus: 1 })).toMatchObject({ size: 1, position: 1 })
  expect(await join(ben, { maxGpus: 1 })).toMatchObject({ size: 1, position: 2 })
  world.advance(60)
  expect(await join(ada, { maxGpus: 1, start: false })).toMatchObject({ position: 1, starts_by_itself: false })
  expect(await join(ada)).toMatchObject({ size: 4, position: 1 })
  expect(await join(ada, { maxGpus: 1 })).toMatchObject({ size: 1, position: 2 })
  expect(await world.db.$count(line)).toBe(2)
})

test('leaving gives the place to the next at once, and joining again means the end', async () => {
  const [owner] = await fullFleet()
  const { placeId } = await latestRun(world, owner.user.id)
  const [ada, ben] = [await newCustomer(world), await newCustomer(world)]
  await join(ada, { start: false })
  world.advance(120)
  await join(ben, { start: false })
  await end(owner)
  await look()
  await leaveLine(world.ctx, ada.user.id)
  expect(await holderOf(placeId)).toBe(ben.user.id)
  expect(await join(ada)).toMatchObject({ position: 1 })
  await leaveLine(world.ctx, ada.user.id)
  await leaveLine(world.ctx, ada.user.id)
  expect(await placeOf(ada)).toBeNull()
})

test('waiting for a large machine never yields a small one, and the small line is another one', async () => {
  const [small, large] = await fullFleet(2, 1)
  const [ada, ben] = [await newCustomer(world, { premium: true }), await newCustomer(world)]
  expect(await join(ada)).toMatchObject({ size: 4, position: 1 })
  world.advance(1)
  expect(await join(ben)).toMatchObject({ size: 1, position: 1 })
  await end(small)
  await look()
  expect(await runsOf(world, ada.user.id)).toEqual([])
  expect(await runsOf(world, ben.user.id)).toHaveLength(1)
  await end(large)
  await look()
  expect(await latestRun(world, ada.user.id)).toMatchObject({ instanceType: 'g6.12xlarge' })
  for (const one of [ada, ben]) await finishJobs(world, one)
})

test('whoever may not start gives their place on', async () => {
  const [owner] = await fullFleet()
  const { placeId } = await latestRun(world, owner.user.id)
  const [closed, suspended, used, ada] = [
    await newCustomer(world),
    await newCustomer(world),
    await newCustomer(world, { demo: true }),
    await newCustomer(world),
  ]
  for (const one of [closed, suspended, used, ada]) await join(one, { start: false })
  await world.db.update(users).set({ closedAt: world.clock.ms }).where(eq(users.id, closed.user.id))
  await end(owner)
  // The write itself passes over those who may not start.
  expect(await holderOf(placeId)).toBe(suspended.user.id)
  await world.db.update(users).set({ suspendedAt: world.clock.ms }).where(eq(users.id, suspended.user.id))
  // Their trial ends while they wait, which only a look at their use can tell.
  await world.db.update(plans).set({ status: 'past_due', subType: 'paid' }).where(eq(plans.userId, ada.user.id))
  await look()
  expect(await placeOf(closed)).toBeNull()
  expect(await placeOf(suspended)).toBeNull()
  expect(await placeOf(ada)).toBeNull()
  expect(mailsTo(ada)).toEqual(['You left the line'])
  expect(await holderOf(placeId)).toBe(used.user.id)
})

test('refuses as a start would, and where a start would work', async () => {
  const [owner] = await fullFleet()
  const over = await newCustomer(world, { demo: true, secondsUsed: 1_800 })
  await expect(join(over)).rejects.toMatchObject({ code: 'no_minutes' })
  await expect(join(await newCustomer(world, { suspendedAt: 1 }))).rejects.toMatchObject({ code: 'suspended' })
  await expect(join(owner)).rejects.toMatchObject({
    code: 'has_server',
    message: expect.stringContaining('already running'),
  })
  const demo = await newCustomer(world, { demo: true })
  await expect(joinLine(world.ctx, demo, { ...NO_WISHES, vehicle: 'multi' }, true)).rejects.toMatchObject({
    code: 'not_offered',
  })
  await freshPlaces(world, 1)
  await expect(join(demo)).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('free for you') })
  expect(await world.db.$count(line)).toBe(0)
})

test('a start that EC2 has no machine for waits again, where it was', async () => {
  const [owner] = await fullFleet()
  const [ada, ben] = [await newCustomer(world), await newCustomer(world)]
  await join(ada)
  await join(ben)
  await end(owner)
  world.ec2.inject('InsufficientInstanceCapacity', 1)
  await look()
  await finishJobs(world, ada)
  expect(await runsOf(world, ada.user.id)).toMatchObject([{ endedAt: expect.any(Number) }])
  await look()
  expect(await placeOf(ada)).toMatchObject({ position: 1 })
  expect(await placeOf(ben)).toMatchObject({ position: 2 })
})

test.each(['VcpuLimitExceeded', 'UnauthorizedOperation', 'SomethingNew'])(
  '%s, which every start would meet, empties no line: they keep their turns, and nobody is sent there for ten minutes',
  async (code) => {
    const [owner] = await fullFleet()
    const { placeId } = await latestRun(world, owner.user.id)
    const [ada, ben] = [await newCustomer(world), await newCustomer(world)]
    await join(ada)
    await join(ben)
    await end(owner)
    world.ec2.inject(code, 5, { action: 'RunInstances' })
    await look()
    await finishJobs(world, ada)
    expect(await runsOf(world, ada.user.id)).toMatchObject([
      { errorCode: 'launch_refused', endedAt: expect.any(Number) },
    ])
    for (let i = 0; i < 3; i++) await look()
    expect(await placeOf(ada)).toMatchObject({ position: 1 })
    expect(await placeOf(ben)).toMatchObject({ position: 2 })
    expect(await runsOf(world, ben.user.id)).toEqual([])
    expect(await holderOf(placeId)).toBeNull()
    expect(mailsTo(ada)).not.toContain("Your server didn't start")
    // It isn't: EC2 has no machine for it.
    expect(mailsTo(ada)).not.toContain(STARTING)
    world.ec2.heal()
    world.advance(600)
    await look()
    await finishJobs(world, ada)
    expect(await latestRun(world, ada.user.id)).toMatchObject({ placeId, runningAt: expect.any(Number) })
    await look()
    expect(mailsTo(ada).filter((subject) => subject === STARTING)).toHaveLength(1)
    expect(await placeOf(ben)).toMatchObject({ position: 1 })
    world.takeLines()
  },
)

test('a server that starts from the line has the parameters that its owner chose, and one from before has none', async () => {
  const owners = await fullFleet(2)
  const [ada, ben] = [await newCustomer(world), await newCustomer(world)]
  const parameters = { SCENARIO: 'fog' }
  await joinLine(world.ctx, ada, { ...NO_WISHES, parameters }, true)
  await join(ben)
  const { parameters: _, secrets: __, ...older } = NO_WISHES
  await world.db
    .update(line)
    .set({ wishes: older as typeof NO_WISHES })
    .where(eq(line.userId, ben.user.id))
  for (const owner of owners) await end(owner)
  await look()
  expect(await latestRun(world, ada.user.id)).toMatchObject({ parameters })
  expect(await latestRun(world, ben.user.id)).toMatchObject({ parameters: null, secrets: null })
  for (const person of [ada, ben]) await settle(world, person)
})

test('a server that starts from the line has its secrets, and none starts once one is gone', async () => {
  const owners = await fullFleet(2, 2)
  const [ada, ben] = [await newCustomer(world, { premium: true }), await newCustomer(world, { premium: true })]
  const wishes = { ...NO_WISHES, environment: 'Own', secrets: ['TOKEN'] }
  for (const { user } of [ada, ben]) {
    const own = { id: `env_${user.id}`, name: 'Own', description: '', plans: ['premium' as const], position: 1 }
    await world.db.insert(environments).values({ ...own, image: 'example.com/own:1', userId: user.id, createdAt: 0 })
    const joining = joinLine(world.ctx, { user }, wishes, true)
    await expect(joining).rejects.toMatchObject({ code: 'invalid', message: 'You have no secret TOKEN.' })
    const row = { userId: user.id, name: 'TOKEN', sealed: '', createdAt: 0, updatedAt: 0 }
    await world.db.insert(secrets).values(row)
    await joinLine(world.ctx, { user }, wishes, true)
  }
  await world.db.delete(secrets).where(eq(secrets.userId, ben.user.id))
  for (const owner of owners) await end(owner)
  await look()
  expect(await latestRun(world, ada.user.id)).toMatchObject({ environment: 'Own', secrets: ['TOKEN'] })
  expect(await runsOf(world, ben.user.id)).toEqual([])
  expect(world.mails.findLast(({ to }) => to === ben.user.email)?.text).toContain('You have no secret TOKEN.')
  await settle(world, ada)
})

test('a start that must look for another place leaves those in line theirs', async () => {
  const [first] = await freshPlaces(world, 1)
  await world.db.delete(line)
  const [ada, ben] = [await newCustomer(world), await newCustomer(world)]
  await pressStart(world, ada)
  await join(ben)
  const [second] = await freshPlaces(world, 1)
  world.ec2.inject('InsufficientInstanceCapacity', 1)
  await finishJobs(world, ada)
  expect((await latestRun(world, ada.user.id)).errorMessage).toContain('All servers are reserved')
  await look()
  expect((await latestRun(world, ben.user.id)).placeId).toBe(second)
  expect(await holderOf(first)).toBeNull()
  await settle(world, ben)
})

test('a held place that an operator drains is made up for by the next', async () => {
  const [owner] = await fullFleet()
  const { placeId } = await latestRun(world, owner.user.id)
  const ada = await newCustomer(world)
  await join(ada, { start: false })
  await end(owner)
  await look()
  const hand = { db: world.db, now: () => world.clock.ms }
  await drainPlace(hand, placeId)
  await look()
  expect(await placeOf(ada)).toMatchObject({ position: 1, held_until: null })
  expect(await holderOf(placeId)).toBeNull()
  await resumePlace(hand, placeId)
  await look()
  expect(await placeOf(ada)).toMatchObject({ position: 0 })
})

test('the database hands out places by the same rule as the domain', async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const luck = seededRandom(seed)
    await fullFleet(0)
    const people = await Promise.all(
      Array.from({ length: 8 }, async () => ({ trial: luck.chance(0.5), customer: await newCustomer(world) })),
    )
    const queued = people.map(({ trial, customer }) => ({
      userId: customer.user.id,
      gpus: 1,
      trial,
      start: false,
      wishes: NO_WISHES,
      joinedAt: 1,
      queuedAt: luck.between(0, 5),
    }))
    await world.db.insert(line).values(queued)
    const [given] = await freshPlaces(world, 1)
    const left = queued.map((row) => ({ ...row, id: row.userId }))
    while (left.length) {
      const paid = (await world.db.select().from(lineTurns))[0]?.paid ?? 0
      await writeBatch(world.db, passOnQueries(world.ctx, sql`id = ${given}`))
      const next = nextInLine(left, paid)
      expect(await holderOf(given), `seed ${seed}`).toBe(next?.id)
      left.splice(left.indexOf(next as (typeof left)[number]), 1)
    }
  }
})

test('two looks at once give one place to one person', async () => {
  const [owner] = await fullFleet(2)
  const [ada, ben] = [await newCustomer(world), await newCustomer(world)]
  await join(ada, { start: false })
  await join(ben, { start: false })
  await end(owner)
  await Promise.all([keepLine(world.ctx), keepLine(world.ctx)])
  const held = await world.db.$count(places, sql`reserved_by LIKE 'user_%'`)
  expect(held).toBe(1)
})

test('someone whose object does not answer keeps nobody else from their place', async () => {
  const [first, second] = await fullFleet(2)
  const [ada, ben] = [await newCustomer(world), await newCustomer(world)]
  await join(ada)
  await join(ben, { start: false })
  await end(first)
  await end(second)
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const { channel } = world.ctx
  const silent = (userId: string) =>
    userId === ada.user.id ? { ...channel(userId), arm: () => answered } : channel(userId)
  const looking = keepLine({ ...world.ctx, channel: silent })
  await expect.poll(async () => (await placeOf(ben))?.held_until).toEqual(expect.any(String))
  expect((await placeOf(ada))?.position).toBe(0)
  answer()
  await looking
  await world.process.settle()
  expect((await runsOf(world, ada.user.id)).at(-1)?.endedAt).toBeNull()
  await end(ada)
  await leaveLine(world.ctx, ben.user.id)
})
