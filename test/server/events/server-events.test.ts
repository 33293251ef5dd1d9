import { asc, eq } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { writeBatch } from '../../../db/client.ts'
import { webhookDeliveries, webhooks } from '../../../db/schema/events.ts'
import { outbox } from '../../../db/schema/mail.ts'
import { NO_WISHES } from '../../../src/domain/run-wishes.ts'
import { EVENT_TYPES, type EventType } from '../../../src/domain/webhook.ts'
import { liftTrialEndQueries } from '../../../src/server/billing/plans/grants.ts'
import { newId } from '../../../src/server/crypto/id.ts'
import { startRun } from '../../../src/server/fleet/start-run.ts'
import { wakeOverdue } from '../../../src/server/fleet/sweep.ts'
import { memoryDatabase } from '../../../testing/stack/memory-database.ts'
import { inBrief } from '../../../testing/stack/recorded-log.ts'
import { type Customer, freshPlaces, latestRun, newCustomer } from '../../../testing/world/fleet.ts'
import { finishJobs, pressStart, pressStop, running, settle } from '../../../testing/world/play.ts'
import { openWorld } from '../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())
afterEach(() => void world.takeLines())

async function customer(
  demo: object = {},
  events: EventType[] = EVENT_TYPES.filter((type) => type !== 'server.ending_soon'),
) {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, demo)
  const [id, userId] = [newId('whk'), ada.user.id]
  const row = { id, userId, url: 'https://example.com/', events, secrets: [], createdAt: 0 }
  await world.db.insert(webhooks).values(row)
  return ada
}

async function told({ user }: Customer) {
  const rows = await world.db
    .select()
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.userId, user.id))
    .orderBy(asc(webhookDeliveries.createdAt))
  return rows.map(({ type, payload }) => {
    const { timestamp, data } = JSON.parse(payload)
    return { type, timestamp, ...data }
  })
}

test('reports a run when it runs and when it has stopped, as the API shows it then', async () => {
  const ada = await customer()
  const run = await running(world, ada)
  await pressStop(world, ada)
  await settle(world, ada)
  const [up, stopped, ...more] = await told(ada)
  expect(more).toEqual([])
  const at = new Date(run.billedFrom ?? 0).toISOString()
  expect(up).toMatchObject({
    type: 'server.running',
    timestamp: expect.any(String),
    server: { id: run.id, active: true, billed_from: at, ip_address: run.ipAddress },
  })
  expect(stopped).toMatchObject({
    type: 'server.stopped',
    server: { id: run.id, active: false, ended_because: 'you', ip_address: null, error_message: null },
  })
  expect(stopped.server.cost_dollars).not.toBeNull()
})

test('reports only the stop of a run that stopped before it answered', async () => {
  const ada = await customer()
  await pressStart(world, ada)
  await pressStop(world, ada)
  await settle(world, ada)
  expect((await told(ada)).map(({ type }) => type)).toEqual(['server.stopped'])
})

test('reports a failed start once, with its reason', async () => {
  const ada = await customer()
  world.ec2.inject('VcpuLimitExceeded', 1)
  await pressStart(world, ada)
  await finishJobs(world, ada)
  await settle(world, ada)
  const events = await told(ada)
  expect(events.map(({ type }) => type)).toEqual(['server.failed'])
  expect(events[0].server).toMatchObject({
    ended_because: 'failure',
    error_code: 'launch_refused',
    error_message: expect.stringContaining('refused'),
  })
})

test('reports a trial before it ends, and once it has', async () => {
  const ada = await customer({ demo: true, secondsUsed: 22 * 60 })
  const run = await running(world, ada)
  await settle(world, ada)
  const events = await told(ada)
  expect(events.map(({ type }) => type)).toEqual(['server.running', 'server.ending', 'server.stopped'])
  expect(events[1].ends_at).toBe(new Date(run.mustStopAt ?? 0).toISOString())
  expect(events[2].server.ended_because).toBe('trial_over')
  expect(inBrief(world.takeLines())).toEqual([])
})

test.each([
  [['server.ending_soon'], ['server.ending_soon']],
  [['server.ending', 'server.ending_soon'], ['server.ending']],
] as [EventType[], string[]][])('an endpoint for %j hears of an end as %j', async (wanted, heard) => {
  const ada = await customer({ demo: true, secondsUsed: 22 * 60 }, wanted)
  await running(world, ada)
  await settle(world, ada)
  expect((await told(ada)).map(({ type }) => type)).toEqual(heard)
})

test.each([
  [601, ['server.ending', 'server.running', 'server.stopped']],
  [600, ['server.running', 'server.stopped']],
])(
  'warns before the end of a run that ends %d s after its start, if that is more than 10 minutes',
  async (seconds, types) => {
    const ada = await customer()
    const { ctx } = world.process
    const { run } = await startRun(ctx, ada, null, null, { ...NO_WISHES, stopAfterMs: seconds * 1000 })
    await world.process.settle()
    await finishJobs(world, ada)
    await settle(world, ada)
    const events = await told(ada)
    expect(events.map(({ type }) => type)).toEqual(types)
    if (types.length === 3) {
      expect(events[0].ends_at).toBe(new Date(run.endsAt ?? 0).toISOString())
      expect(events[0].server.id).toBe(run.id)
    }
    expect(events.at(-1).server.ended_because).toBe('time_up')
    const mails = await world.db.select().from(outbox).where(eq(outbox.recipient, ada.user.email))
    expect(mails.filter(({ subject }) => subject.startsWith('Your server stops in'))).toHaveLength(types.length - 2)
  },
)

test('warns once for each end: of the trial, and, once a plan has lifted it, of the time its user set', async () => {
  const ada = await customer({ demo: true, secondsUsed: 22 * 60 })
  const { ctx } = world.process
  const MINUTE = 60_000
  await startRun(ctx, ada, null, null, { ...NO_WISHES, stopAfterMs: 15 * MINUTE })
  await world.process.settle()
  await finishJobs(world, ada)
  const run = await latestRun(world, ada.user.id)
  const [trialEnd, end] = [run.mustStopAt ?? 0, run.endsAt ?? 0]
  const endings = async () =>
    (await told(ada)).filter(({ type }) => type === 'server.ending').map(({ ends_at }) => Date.parse(ends_at))
  const lookAt = async (ms: number) => {
    world.clock.ms = ms
    for (let i = 0; i < 2; i++) {
      await wakeOverdue(world.ctx)
      // Each step takes a few milliseconds.
      while ((world.kept(ada.user.id).alarm ?? Infinity) < ms + 500) await world.ring(ada.user.id)
      await world.process.settle()
    }
    return endings()
  }
  expect(await lookAt(trialEnd - 5 * MINUTE)).toEqual([trialEnd])
  await writeBatch(world.db, liftTrialEndQueries(world.ctx, ada.user.id))
  // Less than 10 minutes of it are left by then.
  expect(await lookAt(trialEnd)).toEqual([trialEnd, end])
  await settle(world, ada)
  expect(await endings()).toEqual([trialEnd, end])
  const subjects = (await world.db.select().from(outbox).where(eq(outbox.recipient, ada.user.email))).map(
    (mail) => mail.subject,
  )
  expect(subjects).toEqual([
    '5 free minutes left',
    'Your server stops in 7 minutes',
    'Your server stopped as scheduled',
  ])
  expect(inBrief(world.takeLines())).toEqual([])
})
