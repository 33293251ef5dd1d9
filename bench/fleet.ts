import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { openDatabase, writeBatch } from '../db/client.ts'
import { users } from '../db/schema/accounts.ts'
import { plans } from '../db/schema/billing.ts'
import { launches, places, runs } from '../db/schema/fleet.ts'
import { publicAddress } from '../dev/ec2/addresses.ts'
import { openEc2Store } from '../dev/ec2/stand-in.ts'
import { instanceId } from '../testing/instances.ts'
import { newSignedInPerson, start, stop, untilServer } from '../testing/people/signed-in-person.ts'
import { median } from './median.ts'
import { type BenchSite, startBenchSite } from './site.ts'
import { amount, type Row } from './table.ts'

const SIZES = [10, 1_000, 10_000]
const REST_MS = 40_000
const TIMES = 7
/** How much is left of the trial that ends. */
const TRIAL_LEFT_MS = 5_000

type Figures = Record<keyof typeof BUDGETS, number>

/** Judged at the last size; the others show the growth. */
const BUDGETS = {
  ec2Calls: { what: 'at rest: EC2 calls a second', most: 1, unit: '' },
  statements: { what: 'at rest: database statements a second', most: 10, unit: '' },
  wakes: { what: "at rest: wake-ups of users' objects", most: 0, unit: '' },
  vanished: { what: 'we notice a vanished server after', most: 60, unit: 's' },
  stopped: { what: 'EC2 hears of a stop after', most: 5, unit: 's' },
  trial: { what: 'a trial ends too late by', most: 5, unit: 's' },
  throttled: { what: 'throttled by EC2: calls a second', most: 0.1, unit: '' },
  available: { what: 'server_available: database time', most: 20, unit: 'ms' },
  answer: { what: 'server_available: answer', most: 20, unit: 'KB' },
  reserve: { what: 'reserving: database time', most: 20, unit: 'ms' },
} as const

/** Measures fleets with these numbers of running servers and places. Takes about eight minutes. */
export async function benchFleet(): Promise<Row[]> {
  const measured: Figures[] = []
  for (const size of SIZES) measured.push(await benchSize(size))
  const names = Object.keys(BUDGETS) as (keyof Figures)[]
  return names.map((name) => {
    const { what, most, unit } = BUDGETS[name]
    const figures = measured.map((one) => one[name])
    return {
      what,
      measured: `${figures.map((figure) => amount(figure, '', 2).trim()).join(' · ')} ${unit}`,
      budget: `≤ ${most} ${unit}`,
      ok: (figures.at(-1) ?? Number.POSITIVE_INFINITY) <= most,
    }
  })
}

async function benchSize(size: number): Promise<Figures> {
  const site = await startBenchSite({
    files: false,
    fill: (dataDir) => keepRunning(dataDir, size),
    talkingMachines: 0,
  })
  const timers = [] as NodeJS.Timeout[]
  try {
    await fillDatabase(site, size)
    const minutely = () => void site.workerd.runCron('* * * * *')
    minutely()
    timers.push(setInterval(minutely, 60_000))
    // Wait until the watcher has confirmed the last of them.
    await until(async () => (await confirmedLately(site)) >= size)
    return {
      ...(await rest(site)),
      ...(await availability(site)),
      vanished: await vanish(site),
      ...(await ends(site)),
      throttled: await throttle(site),
    }
  } finally {
    for (const timer of timers) clearInterval(timer)
    await site.close()
  }
}

export const runId = (i: number) => `ses_fleet-${i}`
export const slotOf = (i: number) => 2_000_000 + i

export function keepRunning(dataDir: string, size: number): void {
  const store = openEc2Store(join(dataDir, 'ec2'))
  const at = Date.now() - 3_600_000
  for (let i = 0; i < size; i++)
    store.put('instances', instanceId(i), {
      id: instanceId(i),
      reservationId: `r-${i}`,
      sequence: i + 1,
      launchIndex: 0,
      clientToken: `launch_fleet-${i}`,
      tokenZone: null,
      fingerprint: '',
      instanceType: 'g6.4xlarge',
      imageId: 'ami-1',
      availabilityZone: 'us-east-1a',
      tags: {
        Name: runId(i),
        app: 'proving-ground',
        session: runId(i),
        user: `user_${i}`,
        launch: `launch_fleet-${i}`,
      },
      slot: slotOf(i),
      launchedAt: at,
      runsFrom: at,
      shutDownAt: null,
      terminatedFrom: null,
      stateReason: null,
    })
  store.commit()
}

/** Each in a place that starts would use before the free ones. */
export async function fillDatabase(site: BenchSite, size: number): Promise<void> {
  const db = openDatabase(site.databaseUrl)
  const at = Date.now() - 3_600_000
  for (let first = 0; first < size; first += 250) {
    const some = Array.from({ length: Math.min(250, size - first) }, (_, i) => first + i)
    await writeBatch(db, [
      db.insert(users).values(
        some.map((i) => ({
          id: `user_${i}`,
          email: `fleet-${i}@example.com`,
          name: '',
          passwordHash: '',
          createdAt: at,
        })),
      ),
      db.insert(places).values(
        some.map((i) => ({
          id: `srv_fleet-${i}`,
          instanceType: 'g6.4xlarge',
          availabilityZone: 'us-east-1a',
          position: i - size,
          reservedBy: runId(i),
          reservedAt: at,
        })),
      ),
      db.insert(runs).values(
        some.map((i) => ({
          id: runId(i),
          userId: `user_${i}`,
          placeId: `srv_fleet-${i}`,
          instanceType: 'g6.4xlarge',
          availabilityZone: 'us-east-1a',
          requestedAt: at,
          runningAt: at,
          billedFrom: at,
          confirmedAt: at,
          instanceId: instanceId(i),
          ipAddress: publicAddress(slotOf(i)),
        })),
      ),
      db.insert(launches).values(
        some.map((i) => ({
          token: `launch_fleet-${i}`,
          runId: runId(i),
          placeId: `srv_fleet-${i}`,
          createdAt: at,
          launchedAt: at,
          instanceId: instanceId(i),
          outcome: 'launched' as const,
        })),
      ),
    ])
  }
}

async function confirmedLately(site: BenchSite): Promise<number> {
  return openDatabase(site.databaseUrl).$count(runs, sql`ended_at IS NULL AND confirmed_at > ${Date.now() - 60_000}`)
}

async function rest(site: BenchSite) {
  const [calls, trips, wakes] = [ec2Calls(site), site.database.trips.length, site.objects.wakes.length]
  await sleep(REST_MS)
  const statements = site.database.trips.slice(trips).reduce((sum, { body }) => sum + statementsIn(body), 0)
  return {
    ec2Calls: (ec2Calls(site) - calls) / (REST_MS / 1000),
    statements: statements / (REST_MS / 1000),
    wakes: site.objects.wakes.length - wakes,
  }
}

const ec2Calls = (site: BenchSite) => site.services.ec2?.calls().length ?? 0

/** libSQL over HTTP: a pipeline of statements and batches. */
export function statementsIn(body: Buffer): number {
  const { requests = [] } = JSON.parse(body.toString() || '{}') as {
    requests?: { type: string; batch?: { steps: unknown[] } }[]
  }
  return requests.reduce((sum, { type, batch }) => sum + (type === 'execute' ? 1 : (batch?.steps.length ?? 0)), 0)
}

async function availability(site: BenchSite) {
  const available: number[] = []
  const reserve: number[] = []
  let answer = 0
  for (let i = 0; i < TIMES; i++) {
    const person = await newSignedInPerson(site)
    const looked = await inDatabase(site, async () => {
      const response = await person.call('GET', '/api/v1/aws/server_available')
      const body = await response.text()
      if (!body.includes('"ServerAvailable":true')) throw new Error(`No place is free: ${body.slice(0, 200)}`)
      answer = Buffer.byteLength(body) / 1000
    })
    available.push(looked(() => true))
    const reserved = await inDatabase(site, () => start(person))
    reserve.push(reserved((body) => body.includes('UPDATE servers SET reserved_by')))
    await stop(person)
    await untilServer(person, 'ended')
  }
  return { available: median(available), reserve: median(reserve), answer }
}

/** How long the database took for this work's requests. */
async function inDatabase(site: BenchSite, work: () => Promise<unknown>) {
  const first = site.database.trips.length
  await work()
  const trips = site.database.trips.slice(first)
  return (counts: (body: string) => boolean) =>
    trips.reduce((ms, { body, askedAt, answeredAt }) => ms + (counts(body.toString()) ? answeredAt - askedAt : 0), 0)
}

/** In seconds. */
async function vanish(site: BenchSite): Promise<number> {
  const db = openDatabase(site.databaseUrl)
  const at = Date.now()
  site.services.ec2?.inject('terminate_instance', 1, { instance_id: instanceId(3) })
  await until(async () => (await db.$count(runs, and(eq(runs.id, runId(3)), isNotNull(runs.stopRequestedAt)))) > 0)
  const [run] = await db
    .select()
    .from(runs)
    .where(eq(runs.id, runId(3)))
  return ((run?.stopRequestedAt ?? Number.POSITIVE_INFINITY) - at) / 1000
}

/** A stop, and the end of a trial, in seconds. */
async function ends(site: BenchSite) {
  const db = openDatabase(site.databaseUrl)
  const person = await newSignedInPerson(site)
  await start(person)
  await untilServer(person, 'active')
  const asked = Date.now()
  await stop(person)
  const [stopped] = await db.select().from(runs).where(eq(runs.userId, person.id))
  const told = () =>
    site.services.ec2
      ?.calls()
      .find(
        ({ action, instanceIds }) =>
          action === 'TerminateInstances' && instanceIds?.includes(stopped?.instanceId ?? '') === true,
      )
  await until(async () => told() !== undefined)

  const pilot = await newSignedInPerson(site)
  const used = Date.now() - 3_600_000
  const end = used + 1_800_000 - TRIAL_LEFT_MS
  const since = used - 1_000
  await db.update(users).set({ createdAt: since }).where(eq(users.id, pilot.id))
  await db.update(plans).set({ anchor: since, createdAt: since }).where(eq(plans.userId, pilot.id))
  await db.insert(runs).values({
    id: `ses_${pilot.id}`,
    userId: pilot.id,
    placeId: 'srv_fleet-0',
    instanceType: 'g6.4xlarge',
    requestedAt: used,
    runningAt: used,
    billedFrom: used,
    confirmedAt: end,
    stopRequestedAt: end,
    meteredUntil: end,
    endedAt: end,
    endedBecause: 'you' as const,
  })
  await start(pilot)
  await untilServer(pilot, 'ended')
  const [run] = await db
    .select()
    .from(runs)
    .where(and(eq(runs.userId, pilot.id), isNotNull(runs.mustStopAt)))
  return {
    stopped: ((told()?.at ?? Number.POSITIVE_INFINITY) - asked) / 1000,
    trial: ((run?.stopRequestedAt ?? Number.POSITIVE_INFINITY) - (run?.mustStopAt ?? 0)) / 1000,
  }
}

/** How many calls a second it makes while EC2 refuses all of them. */
async function throttle(site: BenchSite): Promise<number> {
  site.services.ec2?.inject('RequestLimitExceeded', 1_000, { action: 'DescribeInstances' })
  const calls = ec2Calls(site)
  await sleep(REST_MS)
  return (ec2Calls(site) - calls) / (REST_MS / 1000)
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 180_000; !(await isTrue()); await sleep(200))
    if (Date.now() > end) throw new Error("It didn't happen within three minutes.")
}
