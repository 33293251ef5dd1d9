import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { runs } from '../../../../db/schema/fleet.ts'
import { MINUTE_MS, SECOND_MS } from '../../../../src/domain/instant.ts'
import { NO_WISHES } from '../../../../src/domain/run-wishes.ts'
import { UNANSWERED_LIMIT } from '../../../../src/domain/start-limits.ts'
import { hearMachine } from '../../../../src/server/fleet/machines/hear.ts'
import { addOwnEnvironment } from '../../../../src/server/fleet/own-environments.ts'
import { unansweredQuery } from '../../../../src/server/fleet/start-limits.ts'
import { startRun } from '../../../../src/server/fleet/start-run.ts'
import { wakeOverdue } from '../../../../src/server/fleet/sweep.ts'
import { toServer } from '../../../../src/server/fleet/wire.ts'
import { aliveOf, freshPlaces, instancesOf, latestRun, newCustomer } from '../../../../testing/world/fleet.ts'
import { finishJobs, pressStop, sentences, settle } from '../../../../testing/world/play.ts'
import { quietWorld } from '../../../../testing/world/quiet-world.ts'

const world = await quietWorld()

/** A run that ends with its program, on a machine that is on and waits for it. */
async function start(stopAfterMs: number | null = null) {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { premium: true })
  await addOwnEnvironment(world.process.ctx, ada, { name: 'Harbor', image: 'ghcr.io/ada/harbor:1' })
  const wishes = { ...NO_WISHES, environment: 'Harbor', untilExit: true, command: ['pytest', '-q'], stopAfterMs }
  await startRun(world.process.ctx, ada, null, null, wishes)
  // Nothing listens there, and nothing should be asked to.
  world.answerMs = 1e12
  const run = () => latestRun(world, ada.user.id)
  while ((await run()).runningAt === null) await world.ring(ada.user.id)
  let first = 1
  /** @param at what the machine's clock says @param repeat its last word, because no answer came */
  const say = async (phase: object | null, at: number, text = 'a line', repeat = false) => {
    if (repeat) first--
    const { id } = await run()
    const body = { first, lines: [{ at, source: 'machine', text }], ...(phase && { phase }), complete: false }
    await hearMachine(world.process.ctx, { runId: id, expiresAt: world.clock.ms + MINUTE_MS }, async () => body)
    first++
    await world.process.settle()
  }
  const begin = async () => {
    await say({ name: 'started' }, world.clock.ms)
    await finishJobs(world, ada)
    return world.clock.ms
  }
  return { ada, run, say, begin }
}
const exit = (exit_code: number) => ({ name: 'exited', exit_code, oom: false, answered: false })

test('is billed from its container to its exit, and ends at once', async () => {
  const { ada, run, say, begin } = await start()
  expect(toServer(await run())).toMatchObject({ active: false, pending: true, startedAt: null, until: 'exit' })
  world.clock.ms = Math.ceil(world.clock.ms / SECOND_MS) * SECOND_MS + 90 * SECOND_MS
  const from = world.clock.ms
  await begin()
  const up = new Date(from).toISOString()
  expect(toServer(await run())).toMatchObject({ active: true, startedAt: up, billed_from: up, exit_code: null })
  expect(instancesOf(world, ada.user.id)[0]?.tags).toMatchObject({ agent: 'required' })
  expect((await run()).idleLookAt).toBeNull()
  world.clock.ms = from + 20 * SECOND_MS + 400
  await say(exit(3), from + 20 * SECOND_MS)
  await world.ring(ada.user.id)
  expect((await run()).stopRequestedAt).toBeLessThan(from + 21 * SECOND_MS)
  await settle(world, ada)
  const ended = await run()
  expect(ended).toMatchObject({ billedFrom: from, meteredUntil: from + 20 * SECOND_MS, errorMessage: null })
  expect(toServer(ended)).toMatchObject({
    ended_because: 'exited',
    exit_code: 3,
    error_code: null,
    command: ['pytest', '-q'],
  })
  expect(sentences(world, ada).at(-1)).toMatch(/^Your program ended with exit code 3\. You used 20s/)
  expect(aliveOf(world, ada.user.id)).toEqual([])
})

test('takes the word of its machine only as far as what we heard bears it out', async () => {
  for (const [said, billed] of [
    // An answer that was lost, said again 8 s later: it exited when it first said so.
    [-8 * SECOND_MS, 292 * SECOND_MS],
    // We heard from it in between, so it still ran then.
    [-300 * SECOND_MS, 20 * SECOND_MS],
    // Nothing happens after we hear of it.
    [+60 * SECOND_MS, 300 * SECOND_MS],
  ] as const) {
    const { ada, run, say, begin } = await start()
    const from = await begin()
    const { billedFrom } = await run()
    world.clock.ms = from + 30 * SECOND_MS
    await say(null, world.clock.ms)
    world.clock.ms = from + 300 * SECOND_MS
    await say(exit(0), world.clock.ms + said)
    await settle(world, ada)
    expect((await run()).meteredUntil).toBe(from + billed)
    expect((await run()).billedFrom).toBe(billedFrom)
  }
})

test('an exit that a machine says late ends the bill earlier, and the time until then counts like silence', async () => {
  const { ada, run, say, begin } = await start()
  await begin()
  const from = (await run()).billedFrom ?? 0
  world.clock.ms += 170 * SECOND_MS
  await say(exit(0), 0)
  await settle(world, ada)
  const { stopRequestedAt, meteredUntil, endedBecause } = await run()
  expect([meteredUntil, endedBecause]).toEqual([from, 'exited'])
  const [{ ms } = { ms: 0 }] = await unansweredQuery(world.ctx, ada.user.id, world.clock.ms)
  expect(ms - UNANSWERED_LIMIT.least).toBe((stopRequestedAt ?? 0) - from)
  expect(ms - UNANSWERED_LIMIT.least).toBeGreaterThanOrEqual(170 * SECOND_MS)
})

test('said again after two minutes in which we could not act, an exit keeps its time', async () => {
  const { ada, run, say, begin } = await start()
  const from = await begin()
  world.clock.ms = from + 20 * SECOND_MS
  world.wire = async (name, effect) => {
    if (name === 'channel: wake') throw new Error('the channel is away')
    return effect()
  }
  await expect(say(exit(1), world.clock.ms)).rejects.toThrow('away')
  world.wire = (_, effect) => effect()
  world.clock.ms += 120 * SECOND_MS
  await say(exit(1), from + 20 * SECOND_MS)
  await settle(world, ada)
  expect((await run()).meteredUntil).toBe(from + 20 * SECOND_MS)
  world.takeLines()
})

test('a program that exits before we saw its machine run costs nothing', async () => {
  const { ada, run, say } = await start()
  const at = world.clock.ms
  await say({ name: 'started' }, at - 5 * SECOND_MS)
  await say(exit(0), at - 4 * SECOND_MS)
  await settle(world, ada)
  const { billedFrom, meteredUntil, runningAt } = await run()
  expect([billedFrom, meteredUntil]).toEqual([runningAt, runningAt])
  expect(toServer(await run())).toMatchObject({ ended_because: 'exited', exit_code: 0 })
})

test('a machine that falls silent is billed to its last word, and ended 3 minutes after', async () => {
  const { ada, run, say, begin } = await start()
  const from = await begin()
  world.clock.ms = from + 100 * SECOND_MS
  await say(null, world.clock.ms)
  await world.ringUntil(ada.user.id, async () => (await run()).stopRequestedAt !== null)
  expect((await run()).stopRequestedAt).toBeGreaterThanOrEqual(from + 280 * SECOND_MS)
  expect((await run()).stopRequestedAt).toBeLessThan(from + 282 * SECOND_MS)
  await settle(world, ada)
  expect(await run()).toMatchObject({
    meteredUntil: from + 100 * SECOND_MS,
    errorCode: 'silent',
    endedBecause: 'failure',
  })
  // What nobody pays for counts toward the 2 hours a day: these 3 minutes, and the minute that each start counts.
  const [{ ms } = { ms: 0 }] = await unansweredQuery(world.ctx, ada.user.id, world.clock.ms)
  expect(ms - UNANSWERED_LIMIT.least).toBe(((await run()).stopRequestedAt ?? 0) - (from + 100 * SECOND_MS))
  expect(sentences(world, ada).at(-1)).toMatch(
    /^Your server stopped telling us about its program.* You used 1m (39|40)s/,
  )
  expect(aliveOf(world, ada.user.id)).toEqual([])
})

test('one that speaks each 30 seconds runs on for an hour', async () => {
  const { ada, run, say, begin } = await start()
  const from = await begin()
  for (let at = from; at < from + 60 * MINUTE_MS; at += 30 * SECOND_MS) {
    while ((world.nextAlarm(ada.user.id) ?? Infinity) <= at) await world.ring(ada.user.id)
    world.clock.ms = Math.max(world.clock.ms, at)
    await say(null, at)
  }
  expect((await run()).stopRequestedAt).toBeNull()
  await pressStop(world, ada)
  await settle(world, ada)
  expect(toServer(await run())).toMatchObject({ ended_because: 'you', exit_code: null })
})

test.each([
  ['time_up', 1, 0],
  ['exited', -1, -1],
  ['exited', 0, 0],
] as const)('what came first is why it ended: %s', async (because, after, billed) => {
  const { ada, run, say, begin } = await start(10 * MINUTE_MS)
  await begin()
  const end = (await run()).endsAt ?? 0
  world.clock.ms = end - 5 * SECOND_MS
  await say(null, world.clock.ms)
  world.clock.ms = end + 5 * SECOND_MS
  await say(exit(0), end + after)
  await settle(world, ada)
  expect(await run()).toMatchObject({ meteredUntil: end + billed, endedBecause: because })
})

test('an exit just after the end of a trial is that end, with its email', async () => {
  const { ada, run, say, begin } = await start()
  await begin()
  const mustStopAt = world.clock.ms + 30 * SECOND_MS
  await world.db
    .update(runs)
    .set({ mustStopAt })
    .where(eq(runs.id, (await run()).id))
  world.clock.ms = mustStopAt - SECOND_MS
  await say(null, world.clock.ms)
  world.clock.ms = mustStopAt + SECOND_MS
  await say(exit(0), world.clock.ms)
  await settle(world, ada)
  expect(await run()).toMatchObject({ endedBecause: 'trial_over', meteredUntil: mustStopAt })
  const mails = world.mails.filter(({ to }) => to === ada.user.email)
  expect(mails.map(({ subject, text }) => [subject, text.includes('Choose a plan')])).toEqual([
    ['You have a new environment', false],
    ['Your free trial is over', true],
  ])
})

test('without an alarm, the sweep ends it', async () => {
  const { ada, run, say, begin } = await start()
  const from = await begin()
  world.clock.ms = from + 20 * SECOND_MS
  world.wire = async (name, effect) => (name === 'channel: wake' ? (undefined as never) : effect())
  await say(exit(2), world.clock.ms)
  world.wire = (_, effect) => effect()
  expect((await run()).stopRequestedAt).toBeNull()
  world.clock.ms += 4 * SECOND_MS
  await wakeOverdue(world.process.ctx)
  await settle(world, ada)
  expect(await run()).toMatchObject({ meteredUntil: from + 20 * SECOND_MS, endedBecause: 'exited' })
})

test('one whose program never starts ends after 10 minutes, and costs nothing', async () => {
  const { ada, run } = await start()
  await settle(world, ada)
  const { runningAt, stopRequestedAt } = await run()
  expect((stopRequestedAt ?? 0) - (runningAt ?? 0)).toBeGreaterThanOrEqual(10 * MINUTE_MS)
  expect(await run()).toMatchObject({ errorCode: 'no_answer', billedFrom: null })
  expect(sentences(world, ada)).toContain('Starting your program…')
  expect(world.reached).toEqual([])
})

test('a program of a run that does not end with it changes nothing but its last code', async () => {
  const { ada, run, say, begin } = await start()
  await world.db.update(runs).set({ untilExit: false }).where(eq(runs.userId, ada.user.id))
  world.answerMs = 0
  await begin()
  await say(exit(9), world.clock.ms)
  expect(await run()).toMatchObject({ exitedAt: null, exitCode: 9, stopRequestedAt: null })
  expect(toServer(await run()).exit_code).toBeNull()
  await pressStop(world, ada)
  await settle(world, ada)
})

test('after an outage of ours, a machine has a minute and a half to speak before it counts as silent', async () => {
  for (const speaks of [true, false]) {
    const { ada, run, say, begin } = await start()
    const from = await begin()
    world.clock.ms = from + 600 * SECOND_MS
    await world.ring(ada.user.id)
    expect((await run()).stopRequestedAt).toBeNull()
    world.clock.ms += 25 * SECOND_MS
    if (speaks) await say(null, world.clock.ms)
    await world.ringUntil(ada.user.id, async () => (await run()).stopRequestedAt !== null)
    const { stopRequestedAt, meteredUntil } = await run()
    const heard = from + (speaks ? 625 * SECOND_MS : 0)
    expect(meteredUntil).toBeGreaterThan(heard - SECOND_MS)
    expect(meteredUntil).toBeLessThan(heard + SECOND_MS)
    const least = from + (speaks ? 625 + 180 : 600 + 90) * SECOND_MS
    expect(stopRequestedAt).toBeGreaterThanOrEqual(least - SECOND_MS)
    expect(stopRequestedAt).toBeLessThan(least + 32 * SECOND_MS)
    await settle(world, ada)
  }
})

test('whoever stops it after its program has ended pays to that end', async () => {
  const { ada, run, say, begin } = await start()
  const from = await begin()
  world.clock.ms = from + 20 * SECOND_MS
  world.wire = async (name, effect) => (name === 'channel: wake' ? (undefined as never) : effect())
  await say(exit(7), world.clock.ms)
  world.wire = (_, effect) => effect()
  world.clock.ms += 50 * SECOND_MS
  await pressStop(world, ada)
  await settle(world, ada)
  expect(await run()).toMatchObject({ meteredUntil: from + 20 * SECOND_MS, endedBecause: 'exited', exitCode: 7 })
})

/** A run that ends with its program, whose machine EC2 has just made. */
async function launched() {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { premium: true })
  await addOwnEnvironment(world.process.ctx, ada, { name: 'Harbor', image: 'ghcr.io/ada/harbor:1' })
  await startRun(world.process.ctx, ada, null, null, { ...NO_WISHES, environment: 'Harbor', untilExit: true })
  while ((await latestRun(world, ada.user.id)).instanceId === null) await world.ring(ada.user.id)
  const { id, instanceId } = await latestRun(world, ada.user.id)
  const at = world.clock.ms
  const exit = () =>
    world.db.update(runs).set({ containerStartedAt: at, exitedAt: at, exitCode: 5 }).where(eq(runs.id, id))
  return { ada, instanceId: instanceId ?? '', exit }
}
const OF_ITS_PROGRAM = { endedBecause: 'exited', exitCode: 5, errorCode: null, billedFrom: null }

test.each(['before', 'while'])('a machine that is gone %s we look says how its program ended', async (when) => {
  const { ada, instanceId, exit } = await launched()
  if (when === 'before') await exit()
  else
    world.wire = async (call, effect) => {
      const answer = await effect()
      if (call === 'ec2: find instance') await exit()
      return answer
    }
  world.ec2.inject('terminate_instance', 1, { instance_id: instanceId })
  await settle(world, ada)
  world.wire = (_, effect) => effect()
  expect(await latestRun(world, ada.user.id)).toMatchObject(OF_ITS_PROGRAM)
  expect(aliveOf(world, ada.user.id)).toEqual([])
})

test.each(['does not answer', 'does not find it'])(
  'while EC2 %s, a program that ends says how it ended',
  async (what) => {
    const { ada, exit } = await launched()
    await exit()
    world.wire = async (call, effect) => {
      if (call !== 'ec2: find instance') return effect()
      if (what === 'does not answer') throw new Error('EC2 is down')
      return null as never
    }
    const run = () => latestRun(world, ada.user.id)
    await world.ringUntil(ada.user.id, async () => (await run()).stopRequestedAt !== null)
    world.wire = (_, effect) => effect()
    await settle(world, ada)
    expect(await run()).toMatchObject(OF_ITS_PROGRAM)
    expect(aliveOf(world, ada.user.id)).toEqual([])
    world.takeLines()
  },
)

test('someone who stops it before we hear of its exit pays to that exit', async () => {
  const { ada, run, say, begin } = await start()
  const from = await begin()
  world.clock.ms = from + 30 * SECOND_MS
  await say(null, world.clock.ms)
  world.clock.ms = from + 50 * SECOND_MS
  await pressStop(world, ada)
  // Its last word reaches us while its machine shuts down.
  await say(exit(4), from + 35 * SECOND_MS)
  await settle(world, ada)
  expect(await run()).toMatchObject({ meteredUntil: from + 35 * SECOND_MS, endedBecause: 'you', exitCode: 4 })
})

test('someone who stops it while its machine is silent pays to its last word', async () => {
  const { ada, run, say, begin } = await start()
  const from = await begin()
  world.clock.ms = from + 30 * SECOND_MS
  await say(null, world.clock.ms)
  world.clock.ms = from + 110 * SECOND_MS
  await pressStop(world, ada)
  await settle(world, ada)
  expect(await run()).toMatchObject({ meteredUntil: from + 30 * SECOND_MS, endedBecause: 'you', errorCode: null })
  // What nobody pays for counts, as if it had been stopped for its silence.
  const [{ ms } = { ms: 0 }] = await unansweredQuery(world.ctx, ada.user.id, world.clock.ms)
  expect(ms - UNANSWERED_LIMIT.least).toBe(((await run()).stopRequestedAt ?? 0) - (from + 30 * SECOND_MS))
})

test('after a pause, each word of what it could not send keeps its time', async () => {
  const { ada, run, say, begin } = await start()
  const from = await begin()
  world.clock.ms = from + 150 * SECOND_MS
  // Its lines come first, in a batch of their own.
  await say(null, from + 10 * SECOND_MS)
  world.clock.ms += SECOND_MS
  await say(exit(0), from + 20 * SECOND_MS)
  await settle(world, ada)
  expect(await run()).toMatchObject({ meteredUntil: from + 20 * SECOND_MS, endedBecause: 'exited' })
})

test('a log that does not answer holds up the end for a minute at most', async () => {
  const { ada, run, say, begin } = await start()
  const from = await begin()
  world.clock.ms = from + 30 * SECOND_MS
  await say(null, world.clock.ms)
  await pressStop(world, ada)
  let asked = 0
  world.wire = async (name, effect) => {
    if (name !== 'log: end') return effect()
    asked++
    throw new Error('the log is away')
  }
  await settle(world, ada)
  world.wire = (_, effect) => effect()
  const { stopRequestedAt, endedAt, meteredUntil } = await run()
  expect([asked, meteredUntil]).toEqual([7, stopRequestedAt])
  expect((endedAt ?? 0) - (stopRequestedAt ?? 0)).toBeLessThan(90 * SECOND_MS)
  world.takeLines()
})
