import { and, eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { jobs, type RunRow, runs } from '../../../db/schema/fleet.ts'
import type { JobErrorCode } from '../../../src/domain/run-end.ts'
import { requestStop } from '../../../src/server/fleet/stop-run.ts'
import { toServer } from '../../../src/server/fleet/wire.ts'
import { freshPlaces, latestRun, newCustomer } from '../../../testing/world/fleet.ts'
import { pressStop, running, settle } from '../../../testing/world/play.ts'
import { quietWorld } from '../../../testing/world/quiet-world.ts'

const world = await quietWorld()
await freshPlaces(world, 1)
const ada = await newCustomer(world)
await running(world, ada)
const { id } = await latestRun(world, ada.user.id)
const AT = world.clock.ms + 60_000
const ctx = { ...world.process.ctx, now: () => AT }

/** Ends the live run as it would end with these ends, and takes that back. */
async function endsWith(ends: Partial<RunRow>, { until = AT, code }: { until?: number; code?: JobErrorCode } = {}) {
  const before = await latestRun(world, ada.user.id)
  await world.db
    .update(runs)
    .set({ ...before, ...ends })
    .where(eq(runs.id, id))
  const failure = code ? { failure: { code, message: 'Sorry.' } } : {}
  expect(await requestStop(ctx, before, until, failure)).toBe(true)
  const { endedBecause, errorCode } = await latestRun(world, ada.user.id)
  await world.db.delete(jobs).where(and(eq(jobs.runId, id), eq(jobs.kind, 'server_stop')))
  await world.db.update(runs).set(before).where(eq(runs.id, id))
  return [endedBecause, errorCode]
}

test.each([
  ['its user', {}, 'you'],
  ['its user, just before its trial is over', { mustStopAt: AT + 1 }, 'you'],
  ['its trial, though its user stops it', { mustStopAt: AT }, 'trial_over'],
  ['its trial, though they had set the same end', { mustStopAt: AT, endsAt: AT }, 'trial_over'],
  ['the end that they set before their trial is over', { mustStopAt: AT, endsAt: AT - 1 }, 'time_up'],
  ['its user, just before the end that they set', { endsAt: AT + 1, idleEnds: true, budgetCents: 5 }, 'you'],
  ['the end that they set', { endsAt: AT }, 'time_up'],
  ['nobody using it', { endsAt: AT, idleEnds: true }, 'idle'],
  ['their budget', { endsAt: AT, budgetCents: 500 }, 'budget'],
  ['a smaller plan', { endsAt: AT, planEnds: true, budgetCents: 500 }, 'plan'],
] as const)('its end says that it ended by %s', async (_, ends, because) => {
  expect(await endsWith(ends)).toEqual([because, null])
})

test('a failure is the reason whatever else has come, and keeps its code', async () => {
  const ends = { mustStopAt: AT, endsAt: AT - 1 }
  expect(await endsWith(ends, { code: 'instance_lost', until: AT - 500 })).toEqual(['failure', 'instance_lost'])
  expect(await endsWith(ends, { code: 'suspended' })).toEqual(['suspended', null])
  expect(await endsWith(ends, { code: 'stopped_by_us' })).toEqual(['failure', null])
})

test('what happens between the accepted stop and the end changes nothing', async () => {
  await pressStop(world, ada)
  expect(toServer(await latestRun(world, ada.user.id))).toMatchObject({ ended_because: null, error_code: null })
  // Whatever EC2's record, a plan, or a budget does to it now.
  const past = { mustStopAt: 1, endsAt: 1, planEnds: true, budgetCents: 1 }
  await world.db.update(runs).set(past).where(eq(runs.id, id))
  await settle(world, ada)
  const ended = await latestRun(world, ada.user.id)
  expect(toServer(ended)).toMatchObject({ ended_because: 'you', error_code: null, error_message: null })
})
