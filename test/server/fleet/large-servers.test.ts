import { and, eq, like, type SQL, sql } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { writeBatch } from '../../../db/client.ts'
import { users } from '../../../db/schema/accounts.ts'
import { bills, plans } from '../../../db/schema/billing.ts'
import { runs } from '../../../db/schema/fleet.ts'
import { outbox } from '../../../db/schema/mail.ts'
import { addMonths } from '../../../src/domain/money/billing.ts'
import { NO_WISHES } from '../../../src/domain/run-wishes.ts'
import { closeDueCycles } from '../../../src/server/billing/bills/close-cycles.ts'
import { liftPlanEndQuery } from '../../../src/server/billing/plans/grants.ts'
import { changeRun } from '../../../src/server/fleet/change-run.ts'
import { endLargeServers } from '../../../src/server/fleet/large-servers.ts'
import { startRun } from '../../../src/server/fleet/start-run.ts'
import { wakeOverdue } from '../../../src/server/fleet/sweep.ts'
import { toServer } from '../../../src/server/fleet/wire.ts'
import { throughCalls } from '../../../testing/stack/database.ts'
import { memoryDatabase } from '../../../testing/stack/memory-database.ts'
import { freshPlaces, latestRun, newCustomer } from '../../../testing/world/fleet.ts'
import { finishJobs, settle } from '../../../testing/world/play.ts'
import { openWorld } from '../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())
afterEach(() => void world.takeLines())

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const STOPPED = expect.any(Number)
const iso = (ms: number) => new Date(ms).toISOString()

/** Someone on Premium with a server; large ones have 4 GPUs. */
async function running({ large = true, stopAfterMs = null as number | null } = {}) {
  await freshPlaces(world, 1, large ? 1 : 0)
  const ada = await newCustomer(world, { premium: true })
  const userId = ada.user.id
  await startRun(world.process.ctx, ada, null, null, { ...NO_WISHES, stopAfterMs })
  await world.process.settle()
  await finishJobs(world, ada)
  const { id } = await latestRun(world, userId)
  const change = (plan: Partial<typeof plans.$inferInsert>) =>
    world.db.update(plans).set(plan).where(eq(plans.userId, userId))
  /** The trigger at that moment, and the alarms that it sets. */
  const at = async (ms: number) => {
    world.clock.ms = ms
    for (let n = 0; n < 2; n++) await endLargeServers(world.ctx)
    await wakeOverdue(world.ctx)
    while ((world.kept(userId).alarm ?? Infinity) < ms + 500) await world.ring(userId)
    await world.process.settle()
    return latestRun(world, userId)
  }
  const mails = async () => {
    const ours = and(eq(outbox.recipient, ada.user.email), like(outbox.cause, `large:${id}:%`))
    return (await world.db.select().from(outbox).where(ours)).map(({ cause }) => cause?.split(':').at(-1))
  }
  return { ada, userId, id, change, at, mails, run: () => latestRun(world, userId) }
}

const becomesSmaller = (end: number) => ({ nextPlanType: 'basic' as const, nextPlanAt: end })

/** Stripe made it smaller then, and we hear of it now. */
const becameSmaller = (end: number) => ({ planType: 'basic', earlierPlanType: 'premium', earlierUntil: end }) as const

test.each([
  ['made smaller', becomesSmaller],
  ['canceled', (end: number) => ({ cancelAtPeriodEnd: true, cancelAt: end })],
])('a large server ends with the period in which its plan was %s, to the millisecond', async (_, smaller) => {
  const { ada, change, at, mails } = await running()
  const end = world.clock.ms + 3 * DAY + 137
  expect(await at(world.clock.ms + MINUTE)).toMatchObject({ endsAt: null })
  expect(await mails()).toEqual([])
  await change(smaller(end))
  await at(world.clock.ms + MINUTE)
  expect(await mails()).toEqual(['known'])
  await at(end - DAY - 1_000)
  expect(await mails()).toEqual(['known'])
  await at(end - DAY)
  expect(await mails()).toEqual(['known', 'day'])
  expect(await at(end - HOUR)).toMatchObject({ endsAt: null })
  expect(await mails()).toEqual(['known', 'day', 'hour'])
  expect(await at(end - 15 * MINUTE - 1_000)).toMatchObject({ endsAt: null })
  expect(await at(end - 15 * MINUTE)).toMatchObject({ endsAt: end, planEnds: true, stopRequestedAt: null })
  expect(await at(end - 1_000)).toMatchObject({ stopRequestedAt: null })
  expect(await at(end)).toMatchObject({ stopRequestedAt: STOPPED, meteredUntil: end })
  await settle(world, ada)
  expect(toServer(await latestRun(world, ada.user.id))).toMatchObject({ ended_because: 'plan' })
  expect(await mails()).toEqual(['known', 'day', 'hour'])
})

test('the alarm alone stops it on time, once its end is set', async () => {
  const { userId, change, at } = await running()
  const end = world.clock.ms + HOUR
  await change(becomesSmaller(end))
  await at(end - MINUTE)
  world.clock.ms = end
  await world.ring(userId)
  expect(await latestRun(world, userId)).toMatchObject({ stopRequestedAt: STOPPED, meteredUntil: end })
})

test('a trigger that comes late still ends it there', async () => {
  const { change, at } = await running()
  const end = world.clock.ms + HOUR
  await change(becomesSmaller(end))
  await change({
    planType: 'basic',
    nextPlanType: null,
    nextPlanAt: null,
    earlierPlanType: 'premium',
    earlierUntil: end,
  })
  expect(await at(end + 5 * HOUR)).toMatchObject({ stopRequestedAt: STOPPED, meteredUntil: end })
})

test('news that is more than a day late frees no more than a day', async () => {
  const { change, at } = await running()
  const end = world.clock.ms + HOUR
  await change(becameSmaller(end))
  const { meteredUntil } = await at(end + 3 * DAY)
  // The clock moves with each call.
  expect(Math.floor(((meteredUntil ?? 0) - end) / MINUTE)).toBe((2 * DAY) / MINUTE)
})

test('news that comes after a bill frees nothing that the bill has', async () => {
  const { userId, change, at } = await running()
  const end = world.clock.ms + HOUR
  await change(becameSmaller(end))
  const second = Math.floor(end / 1000) * 1000 + 2 * HOUR
  await world.db
    .update(users)
    .set({ billedUntil: second - 241 })
    .where(eq(users.id, userId))
  // A bill has all of a second that begins in its cycle.
  expect(await at(end + 5 * HOUR)).toMatchObject({ endsAt: second, meteredUntil: second })
})

test('a bill that is being written while news of its end comes is written after the stop', async () => {
  const { ada, userId, id, change, at } = await running()
  const [plan] = await world.db.select().from(plans).where(eq(plans.userId, userId))
  const boundary = addMonths(plan?.anchor ?? 0, 1)
  const end = boundary - HOUR
  world.clock.ms = boundary + HOUR
  await change(becameSmaller(end))
  await world.db.update(runs).set({ confirmedAt: world.clock.ms }).where(eq(runs.id, id))
  await world.db.update(users).set({ billingDueAt: 0 }).where(eq(users.id, userId))
  const { $client } = world.db
  const batch: typeof $client.batch = async (statements, mode) => {
    if (mode === 'write') await endLargeServers(world.ctx)
    return $client.batch(statements, mode)
  }
  await closeDueCycles({ ...world.ctx, db: throughCalls(world.db, { batch }) })
  expect(await latestRun(world, userId)).toMatchObject({ endsAt: end })
  const written = () => world.db.select().from(bills).where(eq(bills.userId, userId))
  expect(await written()).toEqual([])
  const { billedFrom } = await at(world.clock.ms + MINUTE)
  await settle(world, ada)
  world.clock.ms += HOUR
  await closeDueCycles(world.ctx)
  expect(await written()).toMatchObject([
    { periodEnd: boundary, seconds: Math.floor(end / 1000) - Math.ceil((billedFrom ?? 0) / 1000) },
  ])
})

test('a server that the smaller plan includes runs on, and so does one whose plan stays', async () => {
  const small = await running({ large: false })
  await small.change(becomesSmaller(world.clock.ms + HOUR))
  const now = world.clock.ms + 2 * HOUR
  expect(await small.at(now)).toMatchObject({ endsAt: null, stopRequestedAt: null })
  expect(await small.mails()).toEqual([])
  const kept = await running()
  expect(await kept.at(world.clock.ms + 40 * DAY)).toMatchObject({ endsAt: null, stopRequestedAt: null })
})

test('keeping the plan in the last minutes gives the server back the end that its user had set', async () => {
  const { userId, change, at } = await running({ stopAfterMs: 5 * HOUR })
  const { endsAt: own } = await latestRun(world, userId)
  const end = world.clock.ms + HOUR
  await change(becomesSmaller(end))
  expect(await at(end - MINUTE)).toMatchObject({ endsAt: end, ownEndsAt: own })
  await change({ nextPlanType: null, nextPlanAt: null })
  const lift = (type: 'basic' | 'premium', newer = sql`0`) =>
    world.db.run(liftPlanEndQuery(world.db, userId, type, world.clock.ms, newer).getSQL())
  await lift('basic')
  await lift('premium', sql`1`)
  expect(await latestRun(world, userId)).toMatchObject({ endsAt: end, planEnds: true })
  await lift('premium')
  expect(await at(end)).toMatchObject({ endsAt: own, ownEndsAt: null, planEnds: false, stopRequestedAt: null })
})

test("only an earlier end replaces the plan's", async () => {
  const { ada, id, change, at } = await running()
  const end = world.clock.ms + HOUR
  await change(becomesSmaller(end))
  await at(end - 10 * MINUTE)
  for (const ends_at of [null, iso(end + 1), iso(end + HOUR)])
    await expect(changeRun(world.ctx, ada, id, { ends_at })).rejects.toMatchObject({ code: 'invalid' })
  await changeRun(world.ctx, ada, id, { ends_at: iso(end - MINUTE) })
  expect(await at(end - MINUTE)).toMatchObject({ meteredUntil: end - MINUTE, planEnds: false })
})

test("an earlier end that its user set stays, and they aren't mailed about a later one", async () => {
  const { change, at, mails } = await running({ stopAfterMs: HOUR })
  const end = world.clock.ms + DAY
  await change(becomesSmaller(end))
  const run = await at(world.clock.ms + MINUTE)
  expect(run.planEnds).toBe(false)
  expect(await mails()).toEqual([])
})

test('a closed account gets no email', async () => {
  const { userId, change, at, mails } = await running()
  await change(becomesSmaller(world.clock.ms + HOUR))
  await world.db.update(users).set({ closedAt: world.clock.ms }).where(eq(users.id, userId))
  await at(world.clock.ms + MINUTE)
  expect(await mails()).toEqual([])
  expect(await world.db.$count(runs, eq(runs.userId, userId))).toBe(1)
})

test.each([
  ['whose plan stays', 300, null],
  ['whose plan ends later', 100, 90 * DAY],
])('%s: however many large servers, none keeps another from its end', async (_, count, laterMs) => {
  const now = world.clock.ms
  await world.db.delete(plans)
  const values = (row: (n: number) => SQL) =>
    sql.join(
      Array.from({ length: count }, (_, n) => row(n)),
      sql`, `,
    )
  const cancelAt = laterMs === null ? null : now + laterMs
  const id = (n: number) => `${count}_${n}`
  await writeBatch(world.db, [
    world.db.run(sql`INSERT INTO users (id, email, name, password_hash, created_at)
      VALUES ${values((n) => sql`(${id(n)}, ${id(n)}, 'Eve', '', 1)`)}`),
    world.db.run(sql`INSERT INTO servers (id, instance_type, availability_zone, gpus, position, reserved_by)
      VALUES ${values((n) => sql`(${id(n)}, 'g6.12xlarge', 'us-east-1a', 4, 0, ${id(n)})`)}`),
    world.db.run(sql`INSERT INTO subscriptions (id, user_id, plan_type, sub_type, status, anchor, hours, created_at, cancel_at)
      VALUES ${values((n) => sql`(${id(n)}, ${id(n)}, 'premium', 'paid', 'active', ${now}, 30, 1, ${cancelAt})`)}`),
    world.db.run(sql`INSERT INTO server_sessions (id, user_id, server_id, instance_type, requested_at)
      VALUES ${values((n) => sql`(${id(n)}, ${id(n)}, ${id(n)}, 'g6.12xlarge', ${now})`)}`),
  ])
  const { change, run } = await running()
  await change({ cancelAt: world.clock.ms })
  // By chance, one look sees it with a probability of 100 in 101.
  for (let looks = laterMs === null ? 1 : 10; looks > 0; looks--) await endLargeServers(world.ctx)
  expect(await run()).toMatchObject({ planEnds: true })
  await world.db.update(runs).set({ endedAt: now })
})
