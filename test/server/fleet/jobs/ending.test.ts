import { and, eq, like } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { webhookDeliveries, webhooks } from '../../../../db/schema/events.ts'
import { runEvents } from '../../../../db/schema/fleet.ts'
import { outbox } from '../../../../db/schema/mail.ts'
import { NO_WISHES } from '../../../../src/domain/run-wishes.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { changeRun } from '../../../../src/server/fleet/change-run.ts'
import { startRun } from '../../../../src/server/fleet/start-run.ts'
import { wakeOverdue } from '../../../../src/server/fleet/sweep.ts'
import { watchMatters } from '../../../../src/server/operations/matters.ts'
import { memoryDatabase } from '../../../../testing/stack/memory-database.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'
import { freshPlaces, latestRun, newCustomer } from '../../../../testing/world/fleet.ts'
import { finishJobs, pressStop, settle } from '../../../../testing/world/play.ts'
import { openWorld } from '../../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())
afterEach(() => void world.takeLines())

const [MINUTE, HOUR] = [60_000, 3_600_000]
const iso = (ms: number) => new Date(ms).toISOString()

/** A server that ends in an hour, and everything that warned of its end. */
async function running(account: Parameters<typeof newCustomer>[1] = {}) {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, account)
  const userId = ada.user.id
  const hook = { id: newId('whk'), userId, url: 'https://example.com/', secrets: [], createdAt: 0 }
  await world.db.insert(webhooks).values({ ...hook, events: ['server.ending'] })
  const { ctx } = world.process
  await startRun(ctx, ada, null, null, { ...NO_WISHES, stopAfterMs: HOUR })
  await world.process.settle()
  await finishJobs(world, ada)
  const { id, endsAt } = await latestRun(world, userId)
  const move = (end: number | null) => changeRun(ctx, ada, id, { ends_at: end === null ? null : iso(end) })
  const lookAt = async (ms: number) => {
    world.clock.ms = ms
    for (let i = 0; i < 3; i++) {
      await wakeOverdue(world.ctx)
      while ((world.kept(userId).alarm ?? Infinity) < ms + 500) await world.ring(userId)
      await world.process.settle()
    }
    return warnings()
  }
  async function warnings() {
    const ofMail = and(eq(outbox.recipient, ada.user.email), like(outbox.subject, 'Your server stops in %'))
    const events = await world.db.select().from(webhookDeliveries).where(eq(webhookDeliveries.userId, userId))
    const ofRun = and(eq(runEvents.runId, id), eq(runEvents.what, 'warned'))
    return {
      mails: (await world.db.select().from(outbox).where(ofMail)).length,
      events: events.map(({ payload }) => JSON.parse(payload).data.ends_at),
      cable: world.told.filter((one) => one.userId === userId && one.event === 'server.ending').length,
      recorded: (await world.db.select().from(runEvents).where(ofRun)).map(({ detail }) => detail),
    }
  }
  return { ada, end: endsAt ?? 0, move, lookAt, warnings, run: () => latestRun(world, userId) }
}

const told = (...ends: number[]) => ({
  mails: ends.length,
  events: ends.map(iso),
  cable: ends.length,
  recorded: ends.map(iso),
})

test('ten minutes before its end we mail, send an event, and tell open pages, once each', async () => {
  const { ada, end, lookAt, run } = await running()
  expect(await lookAt(end - 10 * MINUTE - 1_000)).toEqual(told())
  expect(await lookAt(end - 10 * MINUTE)).toEqual(told(end))
  expect(await lookAt(end - MINUTE)).toEqual(told(end))
  const mail = world.mails.find(
    ({ to, subject }) => to === ada.user.email && subject === 'Your server stops in 10 minutes',
  )
  expect(mail?.text).toMatch(new RegExp(`\\nhttp://site.test/servers/${(await run()).id}/extend\\?key=[\\w-]{43}\\n`))
  await settle(world, ada)
  expect(await run()).toMatchObject({ meteredUntil: end })
  expect(inBrief(world.takeLines())).toEqual([])
})

test('an end that moves after the warning is warned of again, and one that moves near is not', async () => {
  const { ada, end, move, lookAt, run } = await running()
  await lookAt(end - 9 * MINUTE)
  await move(end + HOUR)
  expect(await lookAt(end + 49 * MINUTE)).toEqual(told(end))
  expect(await lookAt(end + 50 * MINUTE)).toEqual(told(end, end + HOUR))
  const soon = world.clock.ms + 5 * MINUTE
  await move(soon)
  await settle(world, ada)
  expect(await run()).toMatchObject({ meteredUntil: soon })
  expect((await lookAt(world.clock.ms + MINUTE)).recorded).toEqual(told(end, end + HOUR).recorded)
})

test('an end that moves away while we warn of it is not warned of', async () => {
  const { ada, end, move, lookAt, warnings } = await running()
  world.clock.ms = end - 10 * MINUTE
  let moved = false
  world.wire = async (name, effect) => {
    if (name.startsWith('db: batch') && !moved) {
      moved = true
      await move(end + HOUR)
    }
    return effect()
  }
  await wakeOverdue(world.ctx)
  await world.ring(ada.user.id)
  world.wire = (_, effect) => effect()
  expect([moved, await warnings()]).toEqual([true, told()])
  expect(await lookAt(end + 50 * MINUTE)).toEqual(told(end + HOUR))
  await pressStop(world, ada)
  await settle(world, ada)
})

test('if a process dies while it warns, there is still one of each', async () => {
  const { ada, end, warnings } = await running()
  let deaths = 0
  world.wire = async (name, effect) => {
    const done = await effect()
    // Its writes took effect, but it got no answer.
    if (name.startsWith('db') && deaths < 8 && (await warnings()).mails && ++deaths) world.process.kill()
    return done
  }
  await settle(world, ada)
  world.wire = (_, effect) => effect()
  const { mails, events, recorded } = await warnings()
  expect({ deaths, mails, events, recorded }).toEqual({ deaths: 8, mails: 1, events: [iso(end)], recorded: [iso(end)] })
})

test('an operator learns of an end that nothing kept', async () => {
  const { ada, end } = await running()
  const alerts = async () =>
    (await world.db.select().from(outbox).where(eq(outbox.subject, 'A server outlived its end'))).length
  world.clock.ms = end + 3 * MINUTE - 1
  await watchMatters(world.ctx)
  expect(await alerts()).toBe(0)
  world.clock.ms = end + 3 * MINUTE
  await watchMatters(world.ctx)
  expect(await alerts()).toBe(1)
  await settle(world, ada)
})
