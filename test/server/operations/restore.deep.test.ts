import { execFile } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { eq, isNull, sql } from 'drizzle-orm'
import { afterAll, expect, test } from 'vitest'
import { migrateDatabase } from '../../../db/migrate.ts'
import { jobs, launches, places, runs } from '../../../db/schema/fleet.ts'
import { auditLog } from '../../../db/schema/operations.ts'
import { startEc2 } from '../../../dev/ec2/stand-in.ts'
import { freePort } from '../../../dev/free-port.ts'
import { startSqld } from '../../../dev/sqld.ts'
import { LONGEST_START_MS } from '../../../src/domain/image-pull.ts'
import { endOrphans } from '../../../src/server/fleet/sweep.ts'
import { findDrift } from '../../../src/server/operations/drift.ts'
import { repair } from '../../../src/server/operations/repair.ts'
import { findRepairs } from '../../../src/server/operations/restore.ts'
import { atEnd, temporaryFolder } from '../../../testing/stack/at-end.ts'
import { openTestDatabase } from '../../../testing/stack/database.ts'
import {
  aliveOf,
  type Customer,
  freshPlaces,
  holders,
  instancesOf,
  latestRun,
  newCustomer,
  runsOf,
} from '../../../testing/world/fleet.ts'
import { pressStart, pressStop, running, settle } from '../../../testing/world/play.ts'
import { openWorld } from '../../../testing/world/world.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const LONGEST_START_S = LONGEST_START_MS / 1_000
const folder = temporaryFolder('proving-ground-restore')
const [dataDir, backup] = [join(folder, 'live'), join(folder, 'backup')]
const port = await freePort()
let sqld = await startSqld({ dataDir, port })
await migrateDatabase(sqld.url)
const world = await openWorld(openTestDatabase(sqld.url))
afterAll(async () => {
  await sqld.close()
})

/** Stops the database, does something to its files, and starts it again at the same address. */
async function between(work: () => void): Promise<void> {
  await sqld.close()
  work()
  sqld = await startSqld({ dataDir, port })
}

/** Runs the command as an operator would. */
function restore(words: string[], more = {}): Promise<{ ok: boolean; said: string[] }> {
  const aws = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' }
  const env = { ...process.env, ...aws, LIBSQL_URL: sqld.url, EC2_ENDPOINT: world.ec2.endpoint, ...more }
  const lines = (text: string) => text.trim().split('\n')
  return promisify(execFile)('npm', ['run', '--silent', 'restore', '--', ...words], { cwd: ROOT, env }).then(
    ({ stdout }) => ({ ok: true, said: lines(stdout) }),
    ({ stdout, stderr }) => ({ ok: false, said: lines(stdout + stderr) }),
  )
}

async function stopped(people: Customer[]): Promise<void> {
  for (const person of people) {
    await pressStop(world, person)
    await settle(world, person)
    expect(aliveOf(world, person.user.id)).toEqual([])
  }
}

const hand = () => ({ db: world.db, now: () => world.clock.ms, cloud: world.ctx.cloud })
const billedSeconds = (run: { billedFrom: number | null; meteredUntil: number | null }) =>
  run.billedFrom === null ? 0 : ((run.meteredUntil ?? world.clock.ms) - run.billedFrom) / 1000

test('after npm run restore, a backup of two hours ago leaves nothing unbilled or unowned', async () => {
  // The script reads the machine's clock.
  world.clock.ms = Date.now() - 6_500_000
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
  world.advance(3_000)
  await stopped([gone, short, again])
  await running(world, again)
  const truth = new Map(
    await Promise.all(
      [gone, fresh, short].map(async ({ user }) => [user.id, await latestRun(world, user.id)] as const),
    ),
  )
  world.advance(2_500)
  const latest = (await latestRun(world, again.user.id)).id

  await between(() => {
    rmSync(dataDir, { recursive: true })
    cpSync(backup, dataDir, { recursive: true })
  })
  world.restart()
  expect(world.clock.ms).toBeLessThan(Date.now())
  world.clock.ms = Date.now()
  const at = ['--since', new Date(since).toISOString()]
  const planned = await restore(at)
  const says = (person: typeof kept, what: string) => expect.stringMatching(`^i-.* of ${person.user.id}\\) ${what}`)
  expect(planned).toEqual({
    ok: true,
    said: expect.arrayContaining([
      says(gone, 'ended after the backup; its run ends'),
      says(again, 'ended after the backup; its run ends'),
      says(fresh, 'runs, and its owner gets it back'),
      says(again, 'runs, and its owner gets it back'),
      says(short, 'ran and ended after the backup; we bill it'),
      says(newcomer, 'belongs to an account that the backup lacks'),
      'Nothing has changed. To make these repairs, add --apply.',
    ]),
  })
  expect(planned.said).toHaveLength(7)
  expect(await world.db.$count(auditLog)).toBe(0)
  expect((await restore([...at, '--apply'])).said.at(-1)).toBe('Done. Run it again.')
  expect(await restore(at)).toEqual({ ok: true, said: ['EC2 and the database agree.'] })

  // Owned: what runs has its run and its place, and nobody else's.
  expect(await endOrphans(world.ctx, await world.ctx.cloud.listInstances())).toEqual([])
  expect((await findDrift(world.ctx)).instances).toEqual([])
  expect(aliveOf(world, newcomer.user.id)).toEqual([])
  const live = await world.db.select().from(runs).where(isNull(runs.endedAt))
  expect(live.map(({ userId }) => userId).sort()).toEqual([kept, fresh, again].map(({ user }) => user.id).sort())
  expect((await holders(world)).sort()).toEqual(live.map(({ id }) => id).sort())
  expect((await latestRun(world, again.user.id)).id).toBe(latest)

  // Billed: never more than before, and less by at most the time a server may take to answer.
  expect(await latestRun(world, kept.user.id)).toMatchObject({ id: keptRun.id, billedFrom: keptRun.billedFrom })
  for (const { user } of [gone, short]) {
    const [before, after] = [truth.get(user.id), await latestRun(world, user.id)]
    const missing = billedSeconds(before as typeof after) - billedSeconds(after)
    expect(missing).toBeGreaterThan(-2)
    expect(missing).toBeLessThanOrEqual(user.id === gone.user.id ? 2 : LONGEST_START_S)
  }
  expect((await latestRun(world, gone.user.id)).id).toBe(goneRun.id)
  const adopted = await latestRun(world, fresh.user.id)
  const was = truth.get(fresh.user.id)
  expect(adopted).toMatchObject({ id: was?.id, instanceId: was?.instanceId, ipAddress: was?.ipAddress })
  expect((adopted.billedFrom ?? 0) - (was?.billedFrom ?? 0)).toBeGreaterThan(0)
  expect((adopted.billedFrom ?? 0) - (was?.billedFrom ?? 0)).toBeLessThanOrEqual(LONGEST_START_S * 1000)

  // And its owner stops it as usual.
  await stopped([fresh, kept, again])
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
  world.advance(2_500)
  await pressStart(world, young)
  await world.ring(young.user.id)
  await world.ring(young.user.id)
  expect(aliveOf(world, young.user.id)).toHaveLength(1)
  await between(() => {
    rmSync(dataDir, { recursive: true })
    cpSync(backup, dataDir, { recursive: true })
  })
  world.restart()
  for (const each of (await findRepairs(hand(), since, 'us-east-1')).repairs) await repair(hand(), each)
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
  await stopped([trial, young])
})

test('ends no run and no instance while a wrong region or database is more likely', async () => {
  await freshPlaces(world, 5)
  const people = [await newCustomer(world), await newCustomer(world), await newCustomer(world)]
  for (const person of people) await running(world, person)
  const since = world.clock.ms - 60_000
  const runOf = async (person: Customer | undefined) => (await latestRun(world, person?.user.id ?? '')).id
  const ids = await Promise.all(people.map(runOf))
  const known = await world.ctx.cloud.listInstances()
  const doubts = async (cloud: typeof known) =>
    findRepairs({ ...hand(), cloud: { ...world.ctx.cloud, listInstances: async () => cloud } }, since, 'us-east-2')
  const nobody = await doubts([])
  expect(nobody.doubts).toEqual([
    "EC2 in us-east-2 doesn't know 3 of the 3 servers that run according to the database. Their places are in us-east-1. Check AWS_REGION and the access key's account.",
  ])
  expect(nobody.doubted.sort()).toEqual([...ids].sort())
  // One of three may really have ended; two may not.
  const without = (...gone: (string | undefined)[]) => known.filter(({ tags }) => !gone.includes(tags.session))
  expect((await doubts(without(ids[0]))).doubts).toEqual([])
  expect((await doubts(without(ids[0], ids[1]))).doubted.sort()).toEqual([ids[0], ids[1]].sort())

  // Another stage's servers, all launched since.
  const strangers = known
    .filter(({ state }) => state === 'running')
    .map((one) => ({ ...one, tags: { ...one.tags, session: `ses_${one.id}`, user: `user_${one.id}` } }))
  const other = await doubts([...known, ...strangers])
  expect(other.repairs.map(({ what }) => what)).toEqual(Array(3).fill('end_instance'))
  expect(other.doubts).toEqual([
    expect.stringContaining("doesn't know the owners of 3 of the 6 instances in us-east-2"),
  ])
  await stopped(people.slice(1))

  // One live server and the wrong region: the command refuses until somebody types its ID.
  const elsewhere = await startEc2({ dataDir: join(folder, 'elsewhere') })
  atEnd(() => elsewhere.close())
  const wrong = { AWS_REGION: 'us-east-2', EC2_ENDPOINT: elsewhere.endpoint }
  const at = ['--since', new Date(Math.min(since, Date.now())).toISOString(), '--apply']
  const lives = async () => (await latestRun(world, people[0]?.user.id ?? '')).endedAt === null
  for (const words of [[], ['--end', ids[1] ?? '']]) {
    const { ok, said } = await restore([...at, ...words], wrong)
    expect(ok).toBe(false)
    expect(said.join()).toMatch(/EC2 in us-east-2 doesn't know 1 of the 1 servers .* places are in us-east-1\./)
    expect(said.at(-1)).toBe(`  --end ${ids[0]}`)
    expect(await lives()).toBe(true)
  }
  expect((await restore([...at, '--end', ids[0] ?? ''], wrong)).said.at(-1)).toBe('Done. Run it again.')
  expect(await lives()).toBe(false)
})

test('asks for the migrations of an older backup first', async () => {
  const [{ at } = { at: 0 }] = await world.db.all<{ at: number }>(
    sql`SELECT max(created_at) AS at FROM __drizzle_migrations`,
  )
  const move = (from: number, to: number) =>
    world.db.run(sql`UPDATE __drizzle_migrations SET created_at = ${to} WHERE created_at = ${from}`)
  await move(at, at - 1)
  const { ok, said } = await restore(['--since', new Date(Date.now() - 60_000).toISOString()])
  await move(at - 1, at)
  expect([ok, said]).toEqual([
    false,
    ['The backup is older than this version: it lacks migrations. Run "npm run db:migrate" first.'],
  ])
})

test('if a run has two instances, the living one counts, and replaces a start that never launched', async () => {
  await freshPlaces(world, 3)
  const person = await newCustomer(world)
  await running(world, person)
  const run = await latestRun(world, person.user.id)
  const [alive] = aliveOf(world, person.user.id)
  const seen = (await world.ctx.cloud.listInstances()).find(({ id }) => id === alive?.instanceId)
  if (!seen) throw new Error('no instance')
  // Its first launch failed, and it began after the backup, which has an older start without an instance.
  const given = { ...seen, id: 'i-0000000000000dead', state: 'terminated' as const, token: 'launch_first' }
  await world.db.delete(jobs).where(eq(jobs.runId, run.id))
  await world.db.delete(launches).where(eq(launches.runId, run.id))
  await world.db
    .update(runs)
    .set({
      id: 'ses_before',
      requestedAt: run.requestedAt - 60_000,
      instanceId: null,
      billedFrom: null,
      runningAt: null,
    })
    .where(eq(runs.id, run.id))
  await world.db.update(places).set({ reservedBy: 'ses_before' }).where(eq(places.reservedBy, run.id))
  const cloud = { ...world.ctx.cloud, listInstances: async () => [seen, given] }
  const { repairs } = await findRepairs({ ...hand(), cloud }, world.clock.ms - 60_000, 'us-east-1')
  expect(repairs.map(({ what, runId }) => [what, runId])).toEqual([
    ['end_run', 'ses_before'],
    ['adopt', run.id],
  ])
  for (const each of repairs) await repair(hand(), each)
  const [adopted] = await world.db.select().from(runs).where(eq(runs.id, run.id))
  expect(adopted).toMatchObject({ instanceId: seen.id, endedAt: null })
  expect(await holders(world)).toEqual([run.id])
})
