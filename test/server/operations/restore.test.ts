import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq, isNull } from 'drizzle-orm'
import { afterAll, expect, test } from 'vitest'
import { migrateDatabase } from '../../../db/migrate.ts'
import { auditLog, runs } from '../../../db/schema.ts'
import { freePort } from '../../../dev/free-port.ts'
import { startSqld } from '../../../dev/sqld.ts'
import { endOrphans } from '../../../src/server/fleet/sweep.ts'
import { findDrift } from '../../../src/server/operations/drift.ts'
import { findRepairs, repair } from '../../../src/server/operations/restore.ts'
import { openTestDatabase } from '../../../testing/stack/database.ts'
import {
  aliveOf,
  freshPlaces,
  holders,
  instancesOf,
  latestRun,
  newCustomer,
  runsOf,
} from '../../../testing/world/fleet.ts'
import { pressStart, pressStop, running, settle } from '../../../testing/world/play.ts'
import { openWorld } from '../../../testing/world/world.ts'

const TEN_MINUTES = 600
const folder = mkdtempSync(join(tmpdir(), 'proving-ground-restore-'))
const [dataDir, backup] = [join(folder, 'live'), join(folder, 'backup')]
const port = await freePort()
let sqld = await startSqld({ dataDir, port })
await migrateDatabase(sqld.url)
const world = await openWorld(openTestDatabase(sqld.url))
afterAll(async () => {
  await sqld.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Stops the database, does something to its files, and starts it again at the same address. */
async function between(work: () => void): Promise<void> {
  await sqld.close()
  work()
  sqld = await startSqld({ dataDir, port })
}

const hand = () => ({ db: world.db, now: () => world.clock.ms, cloud: world.ctx.cloud })
const billedSeconds = (run: { billedFrom: number | null; meteredUntil: number | null }) =>
  run.billedFrom === null ? 0 : ((run.meteredUntil ?? world.clock.ms) - run.billedFrom) / 1000

test('an hour-old backup leaves nothing unbilled or unowned', { timeout: 60_000 }, async () => {
  await freshPlaces(world, 8)
  const [kept, gone, fresh, short, again] = [
    await newCustomer(world),
    await newCustomer(world),
    await newCustomer(world),
    await newCustomer(world),
    await newCustomer(world),
  ]
  for (const person of [kept, gone, again]) await running(world, person)
  const [keptRun, goneRun] = [await latestRun(world, kept.user.id), await latestRun(world, gone.user.id)]
  await between(() => cpSync(dataDir, backup, { recursive: true }))
  const since = world.clock.ms

  world.advance(300)
  await running(world, fresh)
  await running(world, short)
  const newcomer = await newCustomer(world)
  await running(world, newcomer)
  world.advance(1_200)
  for (const person of [gone, short, again]) {
    await pressStop(world, person)
    await settle(world, person)
  }
  await running(world, again)
  const truth = new Map(
    await Promise.all(
      [gone, fresh, short].map(async ({ user }) => [user.id, await latestRun(world, user.id)] as const),
    ),
  )
  world.advance(2_000)
  const stopped = (await latestRun(world, again.user.id)).id

  await between(() => {
    rmSync(dataDir, { recursive: true })
    cpSync(backup, dataDir, { recursive: true })
  })
  world.restart()
  const repairs = await findRepairs(hand(), since)
  const planned = repairs.map(({ what, userId }) => [what, userId])
  expect(planned).toHaveLength(6)
  expect(planned).toEqual(
    expect.arrayContaining([
      ['end_run', gone.user.id],
      ['end_run', again.user.id],
      ['adopt', fresh.user.id],
      ['adopt', again.user.id],
      ['bill', short.user.id],
      ['end_instance', newcomer.user.id],
    ]),
  )
  expect(await world.db.$count(auditLog)).toBe(0)
  for (const each of repairs) await repair(hand(), each)
  expect(await findRepairs(hand(), since)).toEqual([])

  // Owned: what runs has its run and its place, and nobody else's.
  expect(await endOrphans(world.ctx, await world.ctx.cloud.listInstances())).toEqual([])
  expect((await findDrift(world.ctx)).instances).toEqual([])
  expect(aliveOf(world, newcomer.user.id)).toEqual([])
  const live = await world.db.select().from(runs).where(isNull(runs.endedAt))
  expect(live.map(({ userId }) => userId).sort()).toEqual([kept, fresh, again].map(({ user }) => user.id).sort())
  expect((await holders(world)).sort()).toEqual(live.map(({ id }) => id).sort())
  expect((await latestRun(world, again.user.id)).id).toBe(stopped)

  // Billed: never more than before, and less by at most the ten minutes a server may take to answer.
  expect(await latestRun(world, kept.user.id)).toMatchObject({ id: keptRun.id, billedFrom: keptRun.billedFrom })
  for (const { user } of [gone, short]) {
    const [before, after] = [truth.get(user.id), await latestRun(world, user.id)]
    const missing = billedSeconds(before as typeof after) - billedSeconds(after)
    expect(missing).toBeGreaterThan(-2)
    expect(missing).toBeLessThanOrEqual(user.id === gone.user.id ? 2 : TEN_MINUTES)
  }
  expect((await latestRun(world, gone.user.id)).id).toBe(goneRun.id)
  const adopted = await latestRun(world, fresh.user.id)
  const was = truth.get(fresh.user.id)
  expect(adopted).toMatchObject({ id: was?.id, instanceId: was?.instanceId, ipAddress: was?.ipAddress })
  expect((adopted.billedFrom ?? 0) - (was?.billedFrom ?? 0)).toBeGreaterThan(0)
  expect((adopted.billedFrom ?? 0) - (was?.billedFrom ?? 0)).toBeLessThanOrEqual(TEN_MINUTES * 1000)

  // And its owner stops it as usual.
  for (const person of [fresh, kept, again]) {
    await pressStop(world, person)
    await settle(world, person)
    expect(aliveOf(world, person.user.id)).toEqual([])
  }
  expect(await holders(world)).toEqual([])
  expect(instancesOf(world, fresh.user.id)).toHaveLength(1)
})

test('a server that had not answered yet continues to start, and a trial keeps its end', async () => {
  await freshPlaces(world, 3)
  const trial = await newCustomer(world, { demo: true, secondsUsed: 600 })
  const young = await newCustomer(world)
  await between(() => {
    rmSync(backup, { recursive: true })
    cpSync(dataDir, backup, { recursive: true })
  })
  const since = world.clock.ms
  await running(world, trial)
  const before = await latestRun(world, trial.user.id)
  world.advance(700)
  await pressStart(world, young)
  await world.ring(young.user.id)
  await world.ring(young.user.id)
  expect(aliveOf(world, young.user.id)).toHaveLength(1)
  await between(() => {
    rmSync(dataDir, { recursive: true })
    cpSync(backup, dataDir, { recursive: true })
  })
  world.restart()
  for (const each of await findRepairs(hand(), since)) await repair(hand(), each)
  const after = await latestRun(world, trial.user.id)
  expect((after.mustStopAt ?? 0) - (after.billedFrom ?? 0)).toBeLessThanOrEqual(1_201_000)
  expect(after.mustStopAt ?? 0).toBeGreaterThanOrEqual(before.mustStopAt ?? 0)
  world.kept(young.user.id).alarm = world.clock.ms
  await world.ringUntil(young.user.id, async () => (await latestRun(world, young.user.id)).billedFrom !== null)
  expect((await runsOf(world, young.user.id)).map(({ instanceId }) => instanceId)).toEqual([
    aliveOf(world, young.user.id)[0]?.instanceId,
  ])
  const [row] = await world.db.select().from(auditLog).where(eq(auditLog.act, 'adopt_run'))
  expect(row).toMatchObject({ actor: 'script', reason: 'The database was restored.' })
})
