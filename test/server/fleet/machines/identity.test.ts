import { eq } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fileFolders } from '../../../../db/schema/files.ts'
import { launches, runs } from '../../../../db/schema/fleet.ts'
import { ACCOUNT_ID, type Identities, openIdentities } from '../../../../dev/ec2/identity.ts'
import type { Instance } from '../../../../dev/ec2/instance.ts'
import { Store } from '../../../../dev/stand-in/store.ts'
import { NO_WISHES } from '../../../../src/domain/run-wishes.ts'
import { giveMachineFiles } from '../../../../src/server/fleet/machines/files.ts'
import { getRunOfMachine, readIdentity } from '../../../../src/server/fleet/machines/identity.ts'
import { startRun } from '../../../../src/server/fleet/start-run.ts'
import type { Context } from '../../../../src/server/runtime/context.ts'
import { publicKeyOf } from '../../../../src/server/settings/machine-settings.ts'
import { memoryCounters } from '../../../../testing/stack/counters.ts'
import { memoryDatabase } from '../../../../testing/stack/memory-database.ts'
import { type Customer, freshPlaces, latestRun, newCustomer } from '../../../../testing/world/fleet.ts'
import { finishJobs, settle } from '../../../../testing/world/play.ts'
import { openWorld } from '../../../../testing/world/world.ts'

const ADDRESS = '203.0.113.7'
const world = await openWorld(memoryDatabase())
const amazon = openIdentities(new Store(null))
afterEach(() => void world.takeLines())

let ada: Customer
let instance: Instance

beforeEach(async () => {
  await freshPlaces(world, 1)
  ada = await newCustomer(world, {})
  await startRun(world.process.ctx, { ...ada, tokenName: null }, null, null, NO_WISHES)
  await world.process.settle()
  await finishJobs(world, ada)
  const { id, instanceId } = await latestRun(world, ada.user.id)
  await world.db.update(runs).set({ ipAddress: ADDRESS }).where(eq(runs.id, id))
  const [launch] = await world.db.select().from(launches).where(eq(launches.runId, id))
  instance = {
    id: instanceId,
    launchedAt: launch?.launchedAt,
    availabilityZone: 'us-east-1a',
    instanceType: 'g6.4xlarge',
    imageId: 'ami-0123456789abcdef0',
    slot: 0,
  } as Instance
})

/** A site whose bucket never answers. */
function withFiles(settings: { accountId?: string; region?: string } = {}): Context {
  const publicKey = publicKeyOf(amazon.certificate)
  if (!publicKey) throw new Error('no certificate')
  const { ctx } = world.process
  const machines = { accountId: ACCOUNT_ID, region: 'us-east-1', publicKey, ...settings }
  return { ...ctx, bucket: {}, counter: memoryCounters(), config: { ...ctx.config, files: {}, machines } } as Context
}

async function ask({
  by = amazon,
  of = instance,
  from = ADDRESS as string | null,
  settings = {} as { accountId?: string; region?: string },
}: {
  by?: Identities
  of?: Instance
  from?: string | null
  settings?: { accountId?: string; region?: string }
} = {}) {
  const ctx = withFiles(settings)
  return getRunOfMachine(ctx, await readIdentity(ctx.config.machines, by.proofOf(of, 0)), from)
}

const giveFiles = async () => {
  const ctx = withFiles()
  return giveMachineFiles(ctx, await readIdentity(ctx.config.machines, amazon.proofOf(instance, 0)), ADDRESS)
}

const refused = { code: 'forbidden', message: 'This is not the machine of a server that runs.' }

test("knows a run's machine by what Amazon signed", async () => {
  expect((await ask()).userId).toBe(ada.user.id)
})

test.each<[string, () => Parameters<typeof ask>[0]]>([
  ['someone else signed', () => ({ by: openIdentities(new Store(null)) })],
  ['another account', () => ({ settings: { accountId: '210987654321' } })],
  ['another region', () => ({ settings: { region: 'us-west-2' } })],
  ['an instance that we never launched', () => ({ of: { ...instance, id: 'i-0000000000000dead' } })],
  ['another launch of that instance', () => ({ of: { ...instance, launchedAt: instance.launchedAt + 3_600_000 } })],
  ['another address', () => ({ from: '203.0.113.8' })],
  ['no address', () => ({ from: null })],
])('refuses %s', async (_, wanted) => {
  await expect(ask(wanted())).rejects.toMatchObject(refused)
})

test('refuses a machine whose run has ended', async () => {
  await settle(world, ada)
  await world.db.update(runs).set({ endedAt: world.clock.ms }).where(eq(runs.userId, ada.user.id))
  await expect(ask()).rejects.toMatchObject(refused)
})

test('lets a machine in before we have seen it run: nothing of a customer runs on it by then', async () => {
  await world.db.update(runs).set({ ipAddress: null }).where(eq(runs.userId, ada.user.id))
  await expect(ask({ from: null })).resolves.toMatchObject({ userId: ada.user.id })
})

test('says that a machine loads its files from its first request, even while the bucket does not answer', async () => {
  const phase = async () => (await latestRun(world, ada.user.id)).filesPhase
  // Not counted yet, so even the mode needs the bucket.
  await world.db.insert(fileFolders).values({ userId: ada.user.id, prefix: ada.user.id, createdAt: world.clock.ms })
  expect(await phase()).toBeNull()
  await expect(giveFiles()).rejects.toThrow()
  expect(await phase()).toBe('loading')
  for (const kept of ['failed', 'loaded'] as const) {
    await world.db.update(runs).set({ filesPhase: kept }).where(eq(runs.userId, ada.user.id))
    await expect(giveFiles()).rejects.toThrow()
    expect(await phase()).toBe(kept)
  }
})
