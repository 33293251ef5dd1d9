import { eq, inArray } from 'drizzle-orm'
import { expect } from 'vitest'
import { launches } from '../../db/schema/fleet.ts'
import { runSeconds } from '../../src/domain/money/billing.ts'
import { aliveOf, holders, instancesOf, jobsOf, runsOf } from './fleet.ts'
import type { World } from './world.ts'

const isTerminal = (status: string) => status === 'succeeded' || status === 'failed'

/** What must be true at any moment, whatever happened. `about` is part of each failure message. */
export async function expectAlwaysTrue(world: World, userId: string, about: string): Promise<void> {
  const runs = await runsOf(world, userId)
  const live = runs.filter((run) => run.endedAt === null)
  expect(live.length, `${about}: live runs`).toBeLessThanOrEqual(1)
  // If EC2 launched an instance that we gave up on, the sweep ends it.
  const given = await world.db
    .select()
    .from(launches)
    .where(inArray(launches.outcome, ['refused', 'gone']))
  const owned = aliveOf(world, userId).filter(({ clientToken }) => !given.some(({ token }) => token === clientToken))
  expect(owned.length, `${about}: instances alive`).toBeLessThanOrEqual(1)
  for (const run of runs) {
    if (run.billedFrom === null)
      expect(run.meteredUntil, `${about}: a run that never answered is not metered`).toBeNull()
    else expectNotBilledBeyondRun(world, userId, run, about)
  }
  for (const { id } of await jobsOf(world, userId)) {
    const told = world.published.filter(({ job }) => job.id === id).map(({ job }) => job.status)
    const end = told.findIndex(isTerminal)
    if (end >= 0) expect(new Set(told.slice(end)).size, `${about}: one job published ${told}`).toBe(1)
  }
}

type Run = Awaited<ReturnType<typeof runsOf>>[number]

/** The meter stays within EC2's own times, to the millisecond; up to now, or to the end. */
function expectNotBilledBeyondRun(world: World, userId: string, run: Run, about: string): void {
  const instance = instancesOf(world, userId).find(({ instanceId }) => instanceId === run.instanceId)
  const from = run.billedFrom ?? 0
  // Until the stop has checked whether the instance was still there, only confirmed time is certain.
  const until = run.endedAt === null ? (run.confirmedAt ?? from) : (run.meteredUntil ?? Infinity)
  const end = instance?.shuttingDownAt ?? world.clock.ms
  expect(from, `${about}: the meter starts when the server answers`).toBeGreaterThanOrEqual(
    (instance?.runningAt ?? Infinity) + (run.untilExit ? 0 : world.answerMs),
  )
  expect(until, `${about}: the meter ends when the instance ends`).toBeLessThanOrEqual(end)
  const ran = (end - (instance?.runningAt ?? 0)) / 1000
  expect(runSeconds(from, until), `${about}: billed seconds`).toBeLessThanOrEqual(ran)
}

/** What must be true once nothing runs and nothing remains to be done. */
export async function expectSettled(world: World, userId: string, about: string): Promise<void> {
  await expectAlwaysTrue(world, userId, about)
  expect(aliveOf(world, userId), `${about}: instances left`).toEqual([])
  const runs = await runsOf(world, userId)
  expect(
    runs.filter((run) => run.endedAt === null),
    `${about}: live runs`,
  ).toEqual([])
  const held = await holders(world)
  expect(
    runs.filter((run) => held.includes(run.id)),
    `${about}: places reserved`,
  ).toEqual([])
  for (const job of await jobsOf(world, userId)) {
    expect(isTerminal(job.status), `${about}: ${job.kind} is ${job.status}`).toBe(true)
    expect(job.runAt, `${about}: ${job.kind} is due`).toBeNull()
  }
  for (const run of runs)
    for (const launch of await world.db.select().from(launches).where(eq(launches.runId, run.id)))
      expect(['gone', 'refused'], `${about}: launch`).toContain(launch.outcome)
}
