import { startServer, stopServer } from '../../src/server/fleet/servers.ts'
import { jobsOf, latestRun, type newCustomer } from './fleet.ts'
import type { World } from './world.ts'

type Customer = Awaited<ReturnType<typeof newCustomer>>

/** Presses Start Server; what goes on in the background has ended. */
export async function pressStart(world: World, customer: Customer, serverId: string | null = null) {
  const { process } = world
  const started = await startServer(process.ctx, customer, serverId)
  await process.settle()
  return started
}

/** Presses Stop on the latest run. */
export async function pressStop(world: World, customer: Customer) {
  const { process } = world
  const run = await latestRun(world, customer.user.id)
  const stopped = await stopServer(process.ctx, customer.user.id, { sessionId: run.id, serverId: run.serverId })
  await process.settle()
  return stopped
}

/** Lets the alarms ring until every job of theirs is finished. */
export async function finishJobs(world: World, customer: Customer): Promise<void> {
  const id = customer.user.id
  await world.ringUntil(id, async () => (await jobsOf(world, id)).every((job) => job.runAt === null))
}

/** Lets the alarms ring until none is set: nothing runs, nothing is to be done. */
export async function settle(world: World, customer: Customer): Promise<void> {
  await world.ringUntil(customer.user.id, async () => false)
}

/** Starts a server and waits until it runs. */
export async function running(world: World, customer: Customer) {
  await pressStart(world, customer)
  await finishJobs(world, customer)
  return latestRun(world, customer.user.id)
}

/** What the person was told of their jobs, in order, repeats left out. */
export function sentences(world: World, customer: Customer): string[] {
  return world.published
    .filter((told) => told.userId === customer.user.id)
    .map(({ job }) => job.error_message ?? job.result ?? job.progress ?? job.status)
    .filter((sentence, i, all) => sentence !== all[i - 1])
}
