import { isNull } from 'drizzle-orm'
import type { RunRow } from '../../db/schema/fleet.ts'
import { warmMachines, warmSettings } from '../../db/schema/warm.ts'
import { ACCOUNT_ID } from '../../dev/ec2/identity.ts'
import { WEEK_HOURS } from '../../src/domain/warm-hours.ts'
import { readIdentity } from '../../src/server/fleet/machines/identity.ts'
import { keepWarm } from '../../src/server/fleet/warm/keep.ts'
import { giveWork } from '../../src/server/fleet/warm/work.ts'
import type { Context } from '../../src/server/runtime/context.ts'
import { publicKeyOf } from '../../src/server/settings/machine-settings.ts'
import { memoryCounters } from '../stack/counters.ts'
import { type Customer, latestRun } from './fleet.ts'
import { finishJobs, pressStart } from './play.ts'
import type { World } from './world.ts'

const counter = memoryCounters()

/** A context that knows what Amazon signs for this world's machines. */
export function machineContext(world: World): Context {
  const publicKey = publicKeyOf(world.ec2.certificate) ?? new Uint8Array()
  const { ctx } = world
  return {
    ...ctx,
    counter,
    config: { ...ctx.config, machines: { accountId: ACCOUNT_ID, region: 'us-east-1', publicKey } },
  }
}

/** The operator keeps so many in us-east-1a, at any hour. */
export async function setWarmCount(world: World, count: number): Promise<void> {
  const setting = {
    instanceType: 'g6.4xlarge',
    availabilityZone: 'us-east-1a',
    hours: Array<number>(WEEK_HOURS).fill(count),
    timeZone: 'UTC',
  }
  await world.db.delete(warmSettings)
  await world.db.insert(warmSettings).values(setting)
}

export const keptWarm = (world: World) => world.db.select().from(warmMachines).where(isNull(warmMachines.endedAt))

export const askForWork = (world: World, instanceId: string, isReady = true) =>
  identify(world, instanceId).then((machine) => giveWork(machineContext(world), machine, null, isReady))

/** What the machine is, as Amazon signed it. */
export const identify = (world: World, instanceId: string) =>
  readIdentity(machineContext(world).config.machines, world.ec2.proofOf(instanceId))

/** Passes of the trigger, and what the machines say, until so many wait for a start. */
export async function untilWarm(world: World, count: number): Promise<void> {
  for (let passes = 0; passes < 30; passes++) {
    await keepWarm(world.ctx)
    world.advance(10)
    const rows = await keptWarm(world)
    for (const { instanceId } of rows)
      if (instanceId !== null && isOn(world, instanceId)) await askForWork(world, instanceId)
    const ready = (await keptWarm(world)).filter(({ readyAt, endingAt }) => readyAt !== null && endingAt === null)
    if (ready.length === count && rows.length === count) return
    world.advance(50)
  }
  throw new Error(`Not ${count} warm machines within 30 minutes`)
}

/** Starts a server on a machine that waits, which hears of it. */
export async function runningWarm(world: World, customer: Customer): Promise<RunRow> {
  const { run } = await pressStart(world, customer)
  while (!isOn(world, run.instanceId ?? '')) world.advance(5)
  await askForWork(world, run.instanceId ?? '')
  await finishJobs(world, customer)
  return latestRun(world, customer.user.id)
}

const isOn = (world: World, id: string) =>
  world.ec2.instances().some(({ instanceId, state }) => instanceId === id && state === 'running')
