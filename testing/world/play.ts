import { startRun } from '../../src/server/fleet/start-run.ts'
import { stopRun } from '../../src/server/fleet/stop-run.ts'
import { type Customer, jobsOf, latestRun } from './fleet.ts'
import type { World } from './world.ts'

/** Presses Start Server and waits for background work. */
export async function pressStart(world: World, customer: Customer, placeId: string | null = null) {
  const { process } = world
  const started = await startRun(process.ctx, customer, placeId)
  await process.settle()
  return started
}

/** Presses Stop on the latest run. */
export async function pressStop(world: World, customer: Customer) {
  const { process } = world
  const run = await latestRun(world, customer.user.id)
  const stopped = await stopRun(process.ctx, customer.user.id, { runId: run.id, placeId: run.placeId })
  await process.settle()
  return stopped
}

/** Rings the alarms until every job of theirs is finished. */
export async function finishJobs(world: World, customer: Customer): Promise<void> {
  const id = customer.user.id
  await world.ringUntil(id, async () => (await jobsOf(world, id)).every((job) => job.runAt === null))
}

/** Rings the alarms until none is set: nothing runs and nothing remains to be done. */
export async function settle(world: World, customer: Customer): Promise<void> {
  await world.ringUntil(customer.user.id, async () => false)
}

/** Starts a server and waits until it runs. */
export async function running(world: World, customer: Customer) {
  await pressStart(world, customer)
  await finishJobs(world, customer)
  return latestRun(world, customer.user.id)
}

/** What the person read about their jobs, in order, without repeats. */
export function sentences(world: World, customer: Customer): string[] {
  return world.published
    .filter((told) => told.userId === customer.user.id)
    .map(({ job }) => job.error_message ?? job.result ?? job.progress ?? job.status)
    .filter((sentence, i, all) => sentence !== all[i - 1])
}
