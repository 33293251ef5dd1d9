import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { places, type RunRow, runEvents, runs } from '../../../../db/schema/fleet.ts'
import { grantPlan } from '../../../../src/server/billing/plans/grants.ts'
import { syncPlan } from '../../../../src/server/billing/plans/plan-sync.ts'
import { changeRun } from '../../../../src/server/fleet/change-run.ts'
import { startRun } from '../../../../src/server/fleet/start-run.ts'
import { openPlanOwner } from '../../../../testing/people/plan-owner.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOW = Date.UTC(2028, 3, 1)
const { stack, owner, buy, stripeId } = await openPlanOwner(NOW)
const { ctx, db, clock } = stack

const grant = () => grantPlan(ctx, owner().email, { type: 'basic', hours: 5 })
const run = async () => (await db.select().from(runs).where(eq(runs.userId, owner().id)))[0]

/** Starts a server in a trial, a minute before a purchase. */
async function start(demo = true, set: Partial<RunRow> = {}) {
  const plan = demo ? ({ planType: 'demo', subType: 'demo', status: 'trialing' } as const) : {}
  await stack.insertPlan(owner().id, { ...plan, hours: 0.5 })
  await db.update(places).set({ reservedBy: null })
  await startRun(ctx, { user: owner() })
  await db
    .update(runs)
    .set({ billedFrom: NOW, ...set })
    .where(eq(runs.userId, owner().id))
  clock.now += MINUTE
}

test.each([
  ['bought', () => buy('basic')],
  ['granted', grant],
])('a plan that is %s while a server of a trial runs ends it after 4 hours, once', async (_, begin) => {
  await start()
  await begin()
  const end = NOW + MINUTE + 4 * HOUR
  expect(await run()).toMatchObject({ endsAt: end, defaultEndsAt: end, mustStopAt: null, stopAfter: null })
  const { id = '' } = (await run()) ?? {}
  const events = await db.select().from(runEvents).where(eq(runEvents.runId, id))
  expect(events.map(({ what, detail, by }) => [what, detail, by])).toEqual([
    ['end_set', new Date(end).toISOString(), 'plan'],
  ])
  clock.now += HOUR
  await changeRun(ctx, { user: owner() }, id, { ends_at: null })
  await (begin === grant ? grant() : syncPlan(ctx, await stripeId()))
  expect(await run()).toMatchObject({ endsAt: null })
})

test.each([
  ['bought', () => buy('basic')],
  ['granted', grant],
])('a plan that is %s also ends one whose row only has the end of its trial', async (_, begin) => {
  await start(true, { inTrial: false, mustStopAt: NOW + HOUR / 2 })
  await begin()
  const end = NOW + MINUTE + 4 * HOUR
  expect(await run()).toMatchObject({ endsAt: end, defaultEndsAt: end, mustStopAt: null })
})

test('a server that ends with its program gets no other end', async () => {
  await start(true, { untilExit: true, mustStopAt: NOW + HOUR / 2 })
  await grant()
  expect(await run()).toMatchObject({ inTrial: true, endsAt: null, defaultEndsAt: null, mustStopAt: null })
})

test('a server that began on a plan keeps its own end when a trial comes and goes', async () => {
  await start(false)
  await grantPlan(ctx, owner().email, { type: 'demo', hours: 0.5 })
  expect((await run())?.mustStopAt).not.toBeNull()
  await grant()
  expect(await run()).toMatchObject({ endsAt: null, defaultEndsAt: null, mustStopAt: null })
})

test('an end that its user set, moved, or removed in the trial stays', async () => {
  await start()
  const { id = '' } = (await run()) ?? {}
  const set = async (endsAt: number | null) =>
    changeRun(ctx, { user: owner() }, id, { ends_at: endsAt === null ? null : new Date(endsAt).toISOString() })
  await set(NOW + 2 * HOUR)
  await grant()
  expect(await run()).toMatchObject({ endsAt: NOW + 2 * HOUR, defaultEndsAt: null })
  await set(null)
  await grant()
  expect(await run()).toMatchObject({ endsAt: null, defaultEndsAt: null })
})

test('disuse that ends it first takes the 4 hours back, not everything', async () => {
  await start()
  await db
    .update(runs)
    .set({ endsAt: NOW + HOUR, idleEnds: true })
    .where(eq(runs.userId, owner().id))
  await grant()
  const end = NOW + MINUTE + 4 * HOUR
  expect(await run()).toMatchObject({ endsAt: NOW + HOUR, ownEndsAt: end, defaultEndsAt: end })
})

test("another plan doesn't end a server that began on a plan, nor one that is stopping", async () => {
  await start(false)
  await grant()
  expect(await run()).toMatchObject({ inTrial: false, endsAt: null, defaultEndsAt: null })
  await db.update(runs).set({ inTrial: true, stopRequestedAt: clock.now }).where(eq(runs.userId, owner().id))
  await grant()
  expect(await run()).toMatchObject({ endsAt: null, defaultEndsAt: null })
})

test("nobody else's server gets an end", async () => {
  await start()
  const eve = await stack.newUser()
  await stack.insertPlan(eve.id, { planType: 'demo', subType: 'demo', status: 'trialing', hours: 0.5 })
  await grantPlan(ctx, eve.email, { type: 'basic', hours: 5 })
  expect(await run()).toMatchObject({ endsAt: null, defaultEndsAt: null })
})
