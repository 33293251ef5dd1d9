import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { writeBatch } from '../../../../db/client.ts'
import { plans } from '../../../../db/schema/billing.ts'
import { NO_WISHES } from '../../../../src/domain/run-wishes.ts'
import { setBudget } from '../../../../src/server/billing/bills/budget.ts'
import { mailUsedHours } from '../../../../src/server/billing/bills/hours-mails.ts'
import { liftTrialEndQueries } from '../../../../src/server/billing/plans/grants.ts'
import { startRun } from '../../../../src/server/fleet/start-run.ts'
import { wakeOverdue } from '../../../../src/server/fleet/sweep.ts'
import { toServer } from '../../../../src/server/fleet/wire.ts'
import { aliveOf, freshPlaces, latestRun, newCustomer } from '../../../../testing/world/fleet.ts'
import { finishJobs, pressStop, running, sentences, settle } from '../../../../testing/world/play.ts'
import { quietWorld } from '../../../../testing/world/quiet-world.ts'

const world = await quietWorld()

type Account = Parameters<typeof newCustomer>[1]

/** Starts a run that ends after this many seconds. */
async function start(seconds: number, account: Account = {}) {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, account)
  await startRun(world.process.ctx, ada, null, null, {
    ...NO_WISHES,
    name: 'Night flight',
    stopAfterMs: seconds * 1000,
  })
  await world.process.settle()
  const run = () => latestRun(world, ada.user.id)
  const { requestedAt, endsAt: end } = await run()
  expect(end).toBe(requestedAt + seconds * 1000)
  return { ada, run, end: end ?? 0 }
}

test('a run ends to the millisecond when its user wanted, and says so', async () => {
  const { ada, run, end } = await start(600)
  await finishJobs(world, ada)
  while ((await run()).stopRequestedAt === null) await world.ring(ada.user.id)
  expect((await run()).stopRequestedAt).toBeGreaterThanOrEqual(end)
  expect((await run()).stopRequestedAt).toBeLessThan(end + 1_000)
  await settle(world, ada)
  expect(await run()).toMatchObject({ meteredUntil: end, errorMessage: null })
  expect(toServer(await run())).toMatchObject({
    name: 'Night flight',
    ends_at: new Date(end).toISOString(),
    end_time: new Date(end).toISOString(),
    ended_because: 'time_up',
  })
  expect(sentences(world, ada).at(-1)).toMatch(/^Server stopped as scheduled\. You used 9m /)
  expect(aliveOf(world, ada.user.id)).toEqual([])
})

test('without a look at that moment, the sweep ends it later, and bills nothing more', async () => {
  const { ada, run, end } = await start(3600)
  await finishJobs(world, ada)
  world.clock.ms = end - 1
  await wakeOverdue(world.ctx)
  expect((await run()).stopRequestedAt).toBeNull()
  world.clock.ms = end + 7_200_000
  await wakeOverdue(world.ctx)
  await settle(world, ada)
  expect(await run()).toMatchObject({ meteredUntil: expect.any(Number), errorMessage: null })
  expect((await run()).meteredUntil).toBeLessThanOrEqual(end)
  expect(toServer(await run()).ended_because).toBe('time_up')
})

test('a run ends with its trial or at the end its user set, whichever is earlier', async () => {
  const trial = await start(900, { demo: true, secondsUsed: 1_790 })
  await settle(world, trial.ada)
  expect(toServer(await trial.run()).ended_because).toBe('trial_over')
  const timed = await start(300, { demo: true, secondsUsed: 600 })
  await settle(world, timed.ada)
  expect(await timed.run()).toMatchObject({ meteredUntil: timed.end })
  expect(toServer(await timed.run()).ended_because).toBe('time_up')
})

test('a plan that lifts the end of a trial leaves the end that its user set', async () => {
  const { ada, run, end } = await start(900, { demo: true, secondsUsed: 1_000 })
  await finishJobs(world, ada)
  await writeBatch(world.db, liftTrialEndQueries(world.ctx, ada.user.id))
  await settle(world, ada)
  expect(await run()).toMatchObject({ mustStopAt: null, meteredUntil: end })
})

test('a plan that is bought in time ends the run after 4 hours, and warns of that with its own reason', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { demo: true, secondsUsed: 1_000 })
  await running(world, ada)
  const bought = world.clock.ms
  await writeBatch(world.db, [
    world.db
      .update(plans)
      .set({ planType: 'basic', subType: 'paid', status: 'active' })
      .where(eq(plans.userId, ada.user.id)),
    ...liftTrialEndQueries(world.ctx, ada.user.id),
  ])
  await settle(world, ada)
  expect(await latestRun(world, ada.user.id)).toMatchObject({
    meteredUntil: bought + 4 * 3_600_000,
    endedBecause: 'time_up',
  })
  const [warning, ...more] = world.mails.filter(({ to, subject }) => to === ada.user.email && /stops in/.test(subject))
  expect(more).toEqual([])
  expect(warning?.subject).toBe('Your server stops in 10 minutes')
  expect(warning?.text).toMatch(/^It stops at .+ UTC, 4 hours after your plan began\. Its disk is then erased\./m)
})

test('a budget that is used up ends the run, and says so', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  const { ctx } = world.process
  await setBudget(ctx, ada.user.id, { dollars: 1, stops: true })
  const { billedFrom } = await latestRun(world, ada.user.id)
  world.clock.ms = (billedFrom ?? 0) + 100 * 3_600_000
  await mailUsedHours(ctx)
  const end = (await latestRun(world, ada.user.id)).endsAt ?? 0
  await world.process.settle()
  await settle(world, ada)
  const run = await latestRun(world, ada.user.id)
  expect(run).toMatchObject({ meteredUntil: end, errorMessage: null })
  expect(toServer(run).ended_because).toBe('budget')
  expect(sentences(world, ada).at(-1)).toMatch(/^Server stopped because your budget was used up\. You used /)
  expect(aliveOf(world, ada.user.id)).toEqual([])
})

test('a stop before that moment counts as the user’s', async () => {
  const { ada, run } = await start(600)
  await finishJobs(world, ada)
  await pressStop(world, ada)
  await settle(world, ada)
  expect(toServer(await run()).ended_because).toBe('you')
  expect(sentences(world, ada).at(-1)).toMatch(/^Server stopped\. You used/)
})

test('ends a start that takes too long, at no cost', async () => {
  const { ada, run } = await start(60)
  world.ec2.inject('RequestLimitExceeded', 100, { action: 'RunInstances' })
  await settle(world, ada)
  expect(toServer(await run())).toMatchObject({ startedAt: null, ended_because: 'time_up', cost_dollars: 0 })
  expect(sentences(world, ada)).toContain("The time you set ran out before your server was ready. You weren't charged.")
  world.takeLines()
})
