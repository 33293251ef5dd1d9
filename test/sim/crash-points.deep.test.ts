import { eq } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { places, runs } from '../../db/schema/fleet.ts'
import { outbox } from '../../db/schema/mail.ts'
import { alerts } from '../../db/schema/operations.ts'
import { hearMachine } from '../../src/server/fleet/machines/hear.ts'
import { memoryDatabase } from '../../testing/stack/memory-database.ts'
import {
  aliveOf,
  type Customer,
  freshPlaces,
  jobsOf,
  latestRun,
  newCustomer,
  runsOf,
} from '../../testing/world/fleet.ts'
import { expectAlwaysTrue, expectSettled } from '../../testing/world/invariants.ts'
import { finishJobs, pressStart, pressStop, running, settle } from '../../testing/world/play.ts'
import { isRead, isSelect, type Mishap, wireWithMishap } from '../../testing/world/wire.ts'
import { onlyMishaps, openWorld, type World } from '../../testing/world/world.ts'

/**
 * At each outside call of a start and a stop, the program can be killed or the answer lost. We try them all: count
 * the calls once, then replay for each of them.
 */

/** Each has its own database: the watcher looks for all its servers in one EC2. */
const lanes: World[] = []
for (let i = 0; i < 4; i++) lanes.push(await openWorld(memoryDatabase(), { bootMs: 1_500, shutdownMs: 1_000 }))
const setup = lanes[0] as World
for (const world of lanes) await freshPlaces(world, 0)

type Scenario = {
  /** How long its machines run before they answer. */
  answerMs?: number
  prepare(world: World, customer: Customer): Promise<unknown>
  play(world: World, customer: Customer): Promise<unknown>
  /** What must hold once everything has settled. */
  check?(world: World, customer: Customer, about: string): Promise<unknown>
}

async function start(world: World, customer: Customer): Promise<void> {
  await pressed(pressStart(world, customer))
  await finishJobs(world, customer)
}

async function stop(world: World, customer: Customer): Promise<void> {
  await pressed(pressStop(world, customer))
  await finishJobs(world, customer)
}

const scenarios: Record<string, Scenario> = {
  start: {
    prepare: async () => {},
    play: start,
  },
  'start that moves to another place': {
    async prepare(world) {
      // Bring back the places that earlier plays set aside: each play needs two.
      await world.db.update(places).set({ setAsideUntil: 0 })
      world.ec2.inject('InsufficientInstanceCapacity', 1)
    },
    play: start,
  },
  stop: {
    prepare: running,
    play: stop,
  },
  'stop of a booting start': {
    async prepare(world, customer) {
      await pressStart(world, customer)
      await world.ring(customer.user.id)
    },
    play: stop,
  },
  'start of a loading image': {
    answerMs: 3_000,
    async prepare(world, customer) {
      await pressStart(world, customer)
      await untilOn(world, customer)
    },
    play: finishJobs,
  },
  'stop of a start with a loading image': {
    answerMs: Number.POSITIVE_INFINITY,
    async prepare(world, customer) {
      await pressStart(world, customer)
      await untilOn(world, customer)
    },
    play: stop,
  },
  'end of a server that never answers': {
    answerMs: Number.POSITIVE_INFINITY,
    async prepare(world, customer) {
      await pressStart(world, customer)
      await untilOn(world, customer)
      world.advance(600)
    },
    play: settle,
  },
  'death of a program before it answers': {
    answerMs: Number.POSITIVE_INFINITY,
    async prepare(world, customer) {
      await pressStart(world, customer)
      await untilOn(world, customer)
    },
    async play(world, customer) {
      await sayAll(world, customer, BATCHES)
      await finishJobs(world, customer)
    },
    check: expectLastWords,
  },
  'end of a program that its run ends with': {
    answerMs: Number.POSITIVE_INFINITY,
    async prepare(world, customer) {
      await pressStart(world, customer)
      await untilOn(world, customer)
      await world.db.update(runs).set({ untilExit: true }).where(eq(runs.userId, customer.user.id))
    },
    async play(world, customer) {
      await sayAll(world, customer, PROGRAM)
      await settle(world, customer)
    },
    check: expectExit,
  },
  'end of a vanished instance': {
    async prepare(world, customer) {
      await running(world, customer)
      world.advance(7)
      world.ec2.inject('terminate_instance', 1, { instance_id: aliveOf(world, customer.user.id)[0]?.instanceId ?? '' })
    },
    async play(world, customer) {
      await world.watch()
      await world.watch()
      await settle(world, customer)
    },
  },
}

const TRACEBACK = ['Traceback (most recent call last):', 'FileNotFoundError: No map at /app/maps/harbor.json']
const said = (text: string, source = 'stderr') => ({ at: 0, source, text })
type Batch = { lines: ReturnType<typeof said>[]; phase?: object }
/** Two tries of a program that throws, as its machine posts them. */
const BATCHES: Batch[] = [
  { lines: [said('Started the program', 'machine')], phase: { name: 'started' } },
  { lines: TRACEBACK.map((text) => said(text)), phase: { name: 'exited', exit_code: 3, oom: false } },
  { lines: TRACEBACK.map((text) => said(text)) },
  { lines: [said('Giving up', 'machine')], phase: { name: 'failed', code: 'exited', exit_code: 3 } },
]

/** A program that its run ends with. */
const PROGRAM: Batch[] = [
  { lines: [said('Started the program', 'machine')], phase: { name: 'started' } },
  { lines: [said('1 failed', 'stdout')] },
  { lines: [said('It exited', 'machine')], phase: { name: 'exited', exit_code: 3, oom: false, answered: false } },
]

/** A machine repeats each batch until it is told that the site has it. */
async function sayAll(world: World, { user }: Customer, batches: Batch[]): Promise<void> {
  const { id } = await latestRun(world, user.id)
  let first = 1
  for (const batch of batches) {
    const body = { first, complete: batch === batches.at(-1), ...batch }
    for (let next = first; next < first + batch.lines.length; ) {
      if (world.process.killed) world.restart()
      const key = { runId: id, expiresAt: world.clock.ms + 60_000 }
      const answer = await hearMachine(world.ctx, key, async () => body).catch(onlyMishaps)
      next = answer?.next ?? next
    }
    first += batch.lines.length
  }
}

/** A run that ended with its program says so, whatever went wrong meanwhile, and costs only what its machine said. */
async function expectExit(world: World, { user }: Customer, about: string): Promise<void> {
  const run = await latestRun(world, user.id)
  expect(run, about).toMatchObject({ endedBecause: 'exited', exitCode: 3, errorCode: null, errorMessage: null })
  expect(run.exitedAt, about).not.toBeNull()
  expect(run.meteredUntil, about).toBe(Math.max(run.billedFrom ?? 0, run.exitedAt ?? 0))
}

/** A start that failed has its last words: its code, each line once, and one email that ends with them. */
async function expectLastWords(world: World, { user }: Customer, about: string): Promise<void> {
  const run = await latestRun(world, user.id)
  expect(run, about).toMatchObject({ errorCode: 'exited', exitCode: 3, billedFrom: null })
  const texts = BATCHES.flatMap(({ lines }) => lines.map(({ text }) => text))
  const { lines, complete } = world.logStore(run.id).partAfter(0, true)
  expect([lines.map(({ text }) => text), complete], about).toEqual([texts, true])
  const waiting = await world.db.select().from(outbox).where(eq(outbox.recipient, user.email))
  const sent = world.mails.filter(({ to }) => to === user.email)
  // One that was cut off while it was sent may come twice.
  const words = new Set(
    [...sent, ...waiting].map(({ text }) => text).filter((text) => text.includes(TRACEBACK.at(-1) ?? '')),
  )
  expect(words.size, about).toBe(1)
}

/** The machine is on, whether it answers or not. */
async function untilOn(world: World, { user }: Customer): Promise<void> {
  await world.ringUntil(user.id, async () => (await latestRun(world, user.id)).runningAt !== null)
}

/** A failed click shows the person an error: the program was killed, or no answer came. */
async function pressed(press: Promise<unknown>): Promise<void> {
  await press.catch(onlyMishaps)
}

/**
 * An EC2 read can go unanswered, so 'lost before' counts it. Being killed at a read, or before a change, equals being
 * killed after the change before it: changes wait for each other.
 */
const countsFor = (mishap: Mishap) => (call: string) => (mishap === 'lost before' ? !isSelect(call) : !isRead(call))

async function play(world: World, name: string, mishap: Mishap, n: number): Promise<string[]> {
  const { prepare, play, check, answerMs = 0 } = scenarios[name] as Scenario
  world.answerMs = answerMs
  // The same calls each time: no alert that is held back for an hour, and no mail of an earlier play.
  await world.db.delete(alerts)
  await world.db.delete(outbox)
  const about = `${name}, ${mishap} at call ${n}`
  const customer = await newCustomer(world)
  const { id } = customer.user
  await prepare(world, customer)
  const { wire, calls } = wireWithMishap(mishap, n, countsFor(mishap))
  let changing = false
  const early: string[] = []
  world.wire = (call, effect) => {
    if (isRead(call)) return wire(call, effect)
    if (changing) early.push(call)
    changing = true
    return wire(call, effect).finally(() => {
      changing = false
    })
  }
  await play(world, customer)
  // Mails about an end are sent in the background.
  await world.process.settle()
  if (world.process.killed) world.restart()
  world.wire = (_, effect) => effect()
  expect(early, `${about}: each change waits for the one before it`).toEqual([])
  if (Number.isFinite(n)) expect(calls.length, `${about}: the mishap happened`).toBeGreaterThanOrEqual(n)
  await expectAlwaysTrue(world, id, about)

  // The person looks again and does what remains: stops the running server.
  await finishJobs(world, customer)
  const [run] = await runsOf(world, id)
  if (run?.endedAt === null) {
    expect((await latestRun(world, id)).billedFrom, `${about}: the server of a finished start answers`).not.toBeNull()
    world.advance(5)
    await pressStop(world, customer)
  }
  await settle(world, customer)
  await expectSettled(world, id, about)
  await check?.(world, customer, about)
  const ends = (await jobsOf(world, id)).map((job) => `${job.kind} ${job.status}`)
  expect(new Set(ends).size, `${about}: ${ends}`).toBe(ends.length)
  return calls
}

describe.each(Object.keys(scenarios))('%s', (name) => {
  test.each<[Mishap]>([['cut after'], ['lost before'], ['lost after']])('%s any call', async (mishap) => {
    for (const world of lanes) await freshPlaces(world, 2)
    const count = (await play(setup, name, mishap, Number.POSITIVE_INFINITY)).length
    expect(count).toBeGreaterThan(3)
    const next = { n: 1 }
    await Promise.all(
      lanes.map(async (world) => {
        while (next.n <= count) await play(world, name, mishap, next.n++)
      }),
    )
  })
})
