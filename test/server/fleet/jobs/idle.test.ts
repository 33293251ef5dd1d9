import { eq } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { bills, plans } from '../../../../db/schema/billing.ts'
import { runEvents, runs } from '../../../../db/schema/fleet.ts'
import { notices, outbox } from '../../../../db/schema/mail.ts'
import { NO_WISHES } from '../../../../src/domain/run-wishes.ts'
import { setBudget } from '../../../../src/server/billing/bills/budget.ts'
import { closeDueCycles } from '../../../../src/server/billing/bills/close-cycles.ts'
import { mailUsedHours } from '../../../../src/server/billing/bills/hours-mails.ts'
import { changeRun } from '../../../../src/server/fleet/change-run.ts'
import { setIdleMinutes } from '../../../../src/server/fleet/idle-setting.ts'
import { startRun } from '../../../../src/server/fleet/start-run.ts'
import { wakeOverdue } from '../../../../src/server/fleet/sweep.ts'
import { toServer } from '../../../../src/server/fleet/wire.ts'
import { memoryDatabase } from '../../../../testing/stack/memory-database.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'
import { freshPlaces, latestRun, newCustomer } from '../../../../testing/world/fleet.ts'
import { finishJobs, pressStop, sentences, settle } from '../../../../testing/world/play.ts'
import { openWorld } from '../../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())
afterEach(() => expect(inBrief(world.takeLines())).toEqual([]))

const MINUTE = 60_000
const iso = (ms: number) => new Date(ms).toISOString()

/** A server whose owner stops idle ones after half an hour, and what its simulator says. */
async function running(
  minutes: number | null = 30,
  account: Parameters<typeof newCustomer>[1] = {},
  stopAfterMs: number | null = null,
) {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, account)
  const id = ada.user.id
  const { ctx } = world.process
  if (minutes !== null) await setIdleMinutes(ctx, id, { minutes })
  const asked: number[] = []
  let usedAt = 0
  let says: (() => string | null) | null = null
  world.statusOf = () => {
    asked.push(world.clock.ms)
    return says ? says() : JSON.stringify({ idle_seconds: Math.floor((world.clock.ms - usedAt) / 1000) })
  }
  await startRun(ctx, ada, null, null, { ...NO_WISHES, stopAfterMs })
  await finishJobs(world, ada)
  const run = () => latestRun(world, id)
  const { billedFrom, id: runId } = await run()
  usedAt = billedFrom ?? 0
  return {
    ada,
    run,
    runId,
    from: usedAt,
    asked,
    /** Rings the alarms that are due by then. */
    async until(at: number) {
      for (let next = world.nextAlarm(id); next !== null && next <= at; next = world.nextAlarm(id)) await world.ring(id)
      world.clock.ms = Math.max(world.clock.ms, at)
    },
    use() {
      usedAt = world.clock.ms
    },
    say(status: (() => string | null) | null) {
      says = status
    },
    heard: async () =>
      (await world.db.select().from(notices).where(eq(notices.userId, id)).orderBy(notices.at)).map(
        ({ title }) => title,
      ),
    mailed: async () =>
      (await world.db.select().from(outbox).where(eq(outbox.recipient, ada.user.email))).map(({ subject }) => subject),
    events: async () =>
      (
        await world.db.select().from(runEvents).where(eq(runEvents.runId, runId)).orderBy(runEvents.at, runEvents.id)
      ).map(({ what, by }) => `${what} ${by}`),
  }
}

test('a budget ends a server that counts down, even if someone uses it again', async () => {
  const { ada, run, from, until, use } = await running(60, { secondsUsed: 5 * 3600 })
  const { ctx } = world.process
  await until(from + 50 * MINUTE + 1000)
  const { idleEnds, idleLookAt } = await run()
  expect(idleEnds).toBe(true)
  await setBudget(ctx, ada.user.id, { dollars: 1, stops: true })
  // The look that would take the countdown back is due as well.
  world.clock.ms = Math.max(world.clock.ms, idleLookAt ?? 0)
  use()
  const now = world.clock.ms
  await mailUsedHours(ctx)
  await settle(world, ada)
  const ended = await run()
  expect(ended.endedBecause).toBe('budget')
  expect((ended.meteredUntil ?? 0) - now).toBeLessThan(1000)
})

type Idle = Awaited<ReturnType<typeof running>>

test('a server that nobody uses is warned of and stopped, to the minute, and says so', async () => {
  const { ada, run, from, asked, until, heard, mailed, events } = await running()
  await until(from + 19 * MINUTE)
  expect(asked).toEqual([])
  await until(from + 20 * MINUTE + 1000)
  const { endsAt } = await run()
  // The alarm rings a few milliseconds late.
  expect((endsAt ?? 0) - from - 30 * MINUTE).toBeGreaterThanOrEqual(0)
  expect((endsAt ?? 0) - from - 30 * MINUTE).toBeLessThan(1000)
  expect([await heard(), await mailed()]).toEqual([
    ['Your server stops in 10 minutes'],
    ['Your server stops in 10 minutes'],
  ])
  expect(world.told.at(-1)).toMatchObject({ userId: ada.user.id, event: 'server.ending' })
  await settle(world, ada)
  // Each minute while it counts down.
  expect(asked.length).toBeGreaterThan(8)
  expect(asked.length).toBeLessThan(14)
  const ended = await run()
  expect(ended.meteredUntil).toBe(endsAt)
  expect(toServer(ended).ended_because).toBe('idle')
  expect(sentences(world, ada).at(-1)).toMatch(/^Server stopped because it was idle\. You used (30m 0s|29m 59s)/)
  expect(await heard()).toEqual(['Your server stops in 10 minutes', 'Your server stopped because it was idle'])
  expect(await events()).toEqual(['end_set idle', 'warned us'])
})

test('someone who uses it again keeps it, with the end that they had set', async () => {
  const own = 5 * 60 * MINUTE
  const { run, from, until, use, events } = await running(30, {}, own)
  const end = (await run()).endsAt
  await until(from + 25 * MINUTE)
  expect((await run()).idleEnds).toBe(true)
  use()
  await until(from + 27 * MINUTE)
  expect(await run()).toMatchObject({ endsAt: end, ownEndsAt: null, idleEnds: false, stopRequestedAt: null })
  expect(await events()).toEqual(['end_set site', 'end_set idle', 'warned us', 'end_moved used'])
})

test.each([
  ['no answer', null],
  ['nonsense', '{"idle_seconds": "many"}'],
  ['a negative time', '{"idle_seconds": -5}'],
  ['more than it has run', '{"idle_seconds": 999999999}'],
])('%s never stops a server, even while it counts down', async (_, answer) => {
  const { run, from, until, say, heard } = await running()
  say(() => answer)
  await until(from + 5 * 60 * MINUTE)
  expect([(await run()).endsAt, await heard()]).toEqual([null, []])
  say(null)
  await until(from + 6 * 60 * MINUTE)
  const other = await running()
  await other.until(other.from + 25 * MINUTE)
  expect((await other.run()).idleEnds).toBe(true)
  other.say(() => answer)
  await other.until(other.from + 2 * 60 * MINUTE)
  expect(await other.run()).toMatchObject({ endsAt: null, idleEnds: false, stopRequestedAt: null })
})

test('a click that moves the end counts as use, and that end is theirs', async () => {
  const { ada, run, runId, from, until } = await running()
  await until(from + 25 * MINUTE)
  await changeRun(world.process.ctx, ada, runId, { ends_at: iso(from + 90 * MINUTE) })
  await until(from + 54 * MINUTE)
  expect(await run()).toMatchObject({ endsAt: from + 90 * MINUTE, idleEnds: false })
  await changeRun(world.process.ctx, ada, runId, { ends_at: null })
  const moved = world.clock.ms
  await until(moved + 19 * MINUTE)
  expect((await run()).endsAt).toBeNull()
  await until(moved + 21 * MINUTE)
  expect((await run()).idleEnds).toBe(true)
})

test.each([
  { what: 'is used again', kept: true, since: (server: Idle) => server.use() },
  { what: 'no longer answers', kept: true, since: (server: Idle) => server.say(() => null) },
  { what: 'is still idle', kept: false, since: () => {} },
])('if we come late to its end, a server that $what is kept: $kept', async ({ kept, since }) => {
  const server = await running()
  await server.until(server.from + 25 * MINUTE)
  const end = (await server.run()).endsAt ?? 0
  world.advance(60)
  since(server)
  // No alarm rings meanwhile.
  world.clock.ms = end + 2 * MINUTE
  await world.ring(server.ada.user.id)
  await world.process.settle()
  const run = await server.run()
  expect([run.endsAt, run.idleEnds, run.stopRequestedAt === null]).toEqual(
    kept ? [null, false, true] : [end, true, false],
  )
  if (kept) await pressStop(world, server.ada)
  await settle(world, server.ada)
  if (!kept) expect((await server.run()).meteredUntil).toBe(end)
})

test('only accounts that chose it are asked; switching it off takes a set end back', async () => {
  const never = await running(null)
  await never.until(never.from + 300 * MINUTE)
  expect(never.asked).toEqual([])
  const { ada, run, from, until, asked, events } = await running()
  await until(from + 25 * MINUTE)
  await setIdleMinutes(world.process.ctx, ada.user.id, { minutes: null })
  expect(await run()).toMatchObject({ endsAt: null, idleEnds: false, idleLookAt: null })
  const before = asked.length
  await until(from + 200 * MINUTE)
  expect(asked.length).toBe(before)
  expect((await events()).at(-1)).toBe('end_removed site')
  // Chosen while it runs, it counts from its last use.
  await setIdleMinutes(world.process.ctx, ada.user.id, { minutes: 15 })
  await until(from + 201 * MINUTE)
  expect((await run()).idleEnds).toBe(true)
})

test('the same choice again asks nobody', async () => {
  const { ada, run, from, until, asked } = await running()
  await until(from + 10 * MINUTE)
  const { idleLookAt } = await run()
  const choose = async (minutes: number) => {
    await setIdleMinutes(world.process.ctx, ada.user.id, { minutes })
    await until(world.clock.ms)
    return asked.length
  }
  expect([await choose(30), (await run()).idleLookAt]).toEqual([0, idleLookAt])
  expect([await choose(45), await choose(45)]).toEqual([1, 1])
})

test('an earlier end stays, and a trial ends with its minutes', async () => {
  const { run, from, until } = await running(30, {}, 25 * MINUTE)
  const end = (await run()).endsAt
  await until(from + 21 * MINUTE)
  expect(await run()).toMatchObject({ endsAt: end, idleEnds: false })
  const trial = await running(240, { demo: true })
  await trial.until(trial.from + 29 * MINUTE)
  expect(await trial.run()).toMatchObject({ endsAt: null, idleEnds: false })
})

test('without its alarm, the sweep looks', async () => {
  const { ada, run, from } = await running()
  const { id } = await run()
  world.clock.ms = from + 26 * MINUTE
  await world.db.update(users).set({ idleMinutes: 15 }).where(eq(users.id, ada.user.id))
  await world.db
    .update(runs)
    .set({ idleLookAt: from + 20 * MINUTE })
    .where(eq(runs.id, id))
  expect(await wakeOverdue(world.ctx)).toBeGreaterThan(0)
  await world.ring(ada.user.id)
  expect((await run()).idleEnds).toBe(true)
})

test.each([
  ['nobody used it', false],
  ['someone uses it again', true],
])('an end that comes late, after the month: its bill waits, and has what the meter has if %s', async (_, used) => {
  const { ada, run, from, until, use } = await running()
  await until(from + 21 * MINUTE)
  const { endsAt } = await run()
  const month = from + 35 * MINUTE
  const begun = new Date(month).setUTCMonth(new Date(month).getUTCMonth() - 1)
  const id = ada.user.id
  await world.db.update(plans).set({ anchor: begun }).where(eq(plans.userId, id))
  await world.db.update(users).set({ billedUntil: begun, billingDueAt: month }).where(eq(users.id, id))
  // We see the machine run, but no alarm rings.
  const close = async (at: number) => {
    world.clock.ms = at
    await world.db.update(runs).set({ confirmedAt: at }).where(eq(runs.userId, id))
    await closeDueCycles(world.process.ctx)
    return world.db.select({ seconds: bills.seconds }).from(bills).where(eq(bills.userId, id))
  }
  expect(await close(month + 10 * MINUTE)).toEqual([])
  if (used) use()
  await world.ring(id)
  await finishJobs(world, ada)
  expect((await run()).stopRequestedAt === null).toBe(used)
  // The second that the month's end cuts is the earlier month's.
  const counted = used ? Math.ceil(month / 1000) : Math.floor((endsAt ?? 0) / 1000)
  expect(await close(month + 20 * MINUTE)).toEqual([{ seconds: counted - Math.ceil(from / 1000) }])
})
