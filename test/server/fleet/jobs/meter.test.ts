import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { runs } from '../../../../db/schema/fleet.ts'
import type { Pull } from '../../../../src/domain/image-pull.ts'
import { getUsage } from '../../../../src/server/billing/bills/usage.ts'
import { toServer } from '../../../../src/server/fleet/wire.ts'
import {
  aliveOf,
  freshPlaces,
  holders,
  instancesOf,
  jobsOf,
  latestRun,
  newCustomer,
} from '../../../../testing/world/fleet.ts'
import { finishJobs, pressStart, pressStop, sentences, settle } from '../../../../testing/world/play.ts'
import { quietWorld } from '../../../../testing/world/quiet-world.ts'

const world = await quietWorld()
const NEVER = Number.POSITIVE_INFINITY

/** Starts a server whose machine runs but does not answer yet. */
async function loading(answerMs: number, demo = false) {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { demo })
  world.answerMs = answerMs
  world.reached.length = 0
  await pressStart(world, ada)
  await world.ringUntil(ada.user.id, async () => (await latestRun(world, ada.user.id)).runningAt !== null)
  return ada
}

test('the meter starts when the server first answers, minutes after its machine starts', async () => {
  const ada = await loading(180_000)
  world.advance(60)
  await world.ring(ada.user.id)
  const machineRuns = instancesOf(world, ada.user.id)[0]?.runningAt ?? 0
  const waiting = await latestRun(world, ada.user.id)
  expect(toServer(waiting)).toMatchObject({
    active: true,
    pending: false,
    startedAt: new Date(waiting.runningAt ?? 0).toISOString(),
    ip_address: aliveOf(world, ada.user.id)[0]?.publicIp,
    billed_from: null,
  })
  expect(await getUsage(world.ctx, ada.user.id)).toMatchObject({ seconds: 0, sessions: 0, running: 1 })
  expect(sentences(world, ada).at(-1)).toBe('Waiting for the simulator to answer…')

  await finishJobs(world, ada)
  const run = await latestRun(world, ada.user.id)
  expect(run.runningAt).toBe(waiting.runningAt)
  expect((run.billedFrom ?? 0) - machineRuns).toBeGreaterThanOrEqual(180_000)
  expect((run.billedFrom ?? 0) - machineRuns).toBeLessThan(183_000)
  expect(toServer(run).billed_from).toBe(new Date(run.billedFrom ?? 0).toISOString())
  expect(sentences(world, ada).at(-1)).toBe('Your server is running.')
  world.advance(20)
  await pressStop(world, ada)
  await settle(world, ada)
  expect(sentences(world, ada).at(-1)).toMatch(
    /^Server stopped\. You used (19|20)s, covered by your plan\. Startup \(3m \d+s\) was free\.$/,
  )
})

test('checks every 2 s', async () => {
  const ada = await loading(60_000)
  const asked: number[] = []
  world.wire = (call, effect) => {
    if (call === 'reach') asked.push(world.clock.ms)
    return effect()
  }
  await finishJobs(world, ada)
  world.wire = (_, effect) => effect()
  expect(asked.length).toBeGreaterThan(25)
  for (const [i, at] of asked.slice(1).entries()) expect(at - (asked[i] ?? 0)).toBeLessThan(2_100)
})

test("a trial's minutes run from the first answer", async () => {
  const ada = await loading(300_000, true)
  world.advance(120)
  await world.ring(ada.user.id)
  expect((await latestRun(world, ada.user.id)).mustStopAt).toBeNull()
  await finishJobs(world, ada)
  const run = await latestRun(world, ada.user.id)
  expect(run.mustStopAt).toBe((Math.ceil((run.billedFrom ?? 0) / 1000) + 1_800) * 1000)
  await pressStop(world, ada)
  await settle(world, ada)
})

test('stops a server that never answers after 10 minutes, and bills nothing', async () => {
  const ada = await loading(NEVER, true)
  const { runningAt } = await latestRun(world, ada.user.id)
  await settle(world, ada)
  const ended = await latestRun(world, ada.user.id)
  expect(ended).toMatchObject({
    billedFrom: null,
    meteredUntil: null,
    mustStopAt: null,
    errorMessage: 'Your server did not answer within 10 minutes, so we stopped it.',
  })
  expect((ended.stopRequestedAt ?? 0) - (runningAt ?? 0)).toBeGreaterThanOrEqual(600_000)
  expect((ended.stopRequestedAt ?? 0) - (runningAt ?? 0)).toBeLessThan(603_000)
  expect(aliveOf(world, ada.user.id)).toEqual([])
  expect(await holders(world)).not.toContain(ended.id)
  expect((await getUsage(world.ctx, ada.user.id)).seconds).toBe(0)
  const sentence = "Your server did not answer within 10 minutes, so we stopped it. You weren't charged."
  expect(await jobsOf(world, ada.user.id)).toMatchObject([
    { kind: 'server_start', status: 'failed', errorCode: 'no_answer', errorMessage: sentence },
    { kind: 'server_stop', status: 'failed', errorCode: 'no_answer', errorMessage: sentence },
  ])
  const starts = world.published.filter(({ userId, job }) => userId === ada.user.id && job.kind === 'server_start')
  expect(starts.at(-1)?.job).toMatchObject({ status: 'failed', error_code: 'no_answer' })
  const told = { matter: 'no_answer', jobId: starts[0]?.job.id, runId: ended.id, instanceId: ended.instanceId }
  expect(world.takeLines()).toMatchObject([{ event: 'alert', ...told }])
  const [mail] = await world.db.all<{ n: number }>(
    sql`SELECT count(*) AS n FROM outbox WHERE recipient = ${world.ctx.config.operatorEmail} AND subject = 'A server never answered'`,
  )
  expect(mail?.n).toBe(1)
})

/** What its machine said of its image, `seconds` after it began. */
const says = (ada: { user: { id: string } }, pull: Partial<Pull>) =>
  world.db
    .update(runs)
    .set({ pull: { startedAt: 0, heardAt: 0, percent: 0, percentAt: 0, bytes: 0, ...pull } })
    .where(eq(runs.userId, ada.user.id))

test('pulling is not answering: an image may load for 30 minutes, and the 10 minutes begin with its container', async () => {
  const ada = await loading(NEVER)
  const startedAt = world.clock.ms
  const at = { startedAt, percentAt: startedAt + 600_000, percent: 42, bytes: 9e9 }
  world.advance(1_700)
  await says(ada, { ...at, heardAt: world.clock.ms })
  await world.ring(ada.user.id)
  expect(sentences(world, ada).at(-1)).toBe('Loading your image, 42%, about 13m 50s…')
  expect((await latestRun(world, ada.user.id)).stopRequestedAt).toBeNull()
  const containerStartedAt = world.clock.ms
  await world.db.update(runs).set({ containerStartedAt }).where(eq(runs.userId, ada.user.id))
  world.advance(590)
  await world.ring(ada.user.id)
  expect(sentences(world, ada).at(-1)).toBe('Waiting for the simulator to answer…')
  await settle(world, ada)
  const ended = await latestRun(world, ada.user.id)
  expect(ended).toMatchObject({ errorCode: 'no_answer', billedFrom: null })
  expect((ended.stopRequestedAt ?? 0) - containerStartedAt).toBeGreaterThanOrEqual(600_000)
  expect((ended.stopRequestedAt ?? 0) - containerStartedAt).toBeLessThan(603_000)
  world.takeLines()
})

test.each([
  ['less than 1 MB/s', 600, 600e6 - 1],
  ['more than 30 minutes', 1_800, 9e12],
])('an image that takes %s ends its start, and nothing is billed', async (_, seconds, bytes) => {
  const ada = await loading(NEVER)
  const startedAt = world.clock.ms
  await says(ada, { startedAt, percentAt: startedAt, heardAt: startedAt + seconds * 1_000, bytes })
  world.advance(seconds - 1)
  await settle(world, ada)
  const ended = await latestRun(world, ada.user.id)
  expect(ended).toMatchObject({ errorCode: 'image_slow', endedBecause: 'failure', billedFrom: null })
  expect((ended.stopRequestedAt ?? 0) - startedAt).toBeGreaterThanOrEqual((seconds - 1) * 1_000)
  expect(aliveOf(world, ada.user.id)).toEqual([])
  expect(world.takeLines()).toMatchObject([{ event: 'alert', matter: 'image_failed:the default image' }])
})

test('a failed check is not an answer: the server stops anyway', async () => {
  const ada = await loading(NEVER)
  const real = world.ctx.reach
  world.ctx.reach = async () => {
    throw new Error('no socket')
  }
  world.advance(600)
  await settle(world, ada)
  world.ctx.reach = real
  expect(await latestRun(world, ada.user.id)).toMatchObject({ billedFrom: null, endedAt: expect.any(Number) })
  expect(world.takeLines().map(({ event }) => event)).toContain('reach_failed')
})

test('keeps a server that answers the first check after a long pause on our side', async () => {
  const ada = await loading(5_000)
  world.advance(3_600)
  await finishJobs(world, ada)
  const run = await latestRun(world, ada.user.id)
  expect(run.billedFrom).toBeGreaterThan((run.runningAt ?? 0) + 3_600_000)
  await pressStop(world, ada)
  await settle(world, ada)
})

test('a stop while the image loads bills nothing, and says so', async () => {
  const ada = await loading(NEVER)
  world.advance(200)
  await world.ring(ada.user.id)
  const { run } = await pressStop(world, ada)
  expect(run).toMatchObject({ billedFrom: null, meteredUntil: null })
  await settle(world, ada)
  const cancelled = "Start cancelled. You weren't charged."
  expect(sentences(world, ada).filter((sentence) => sentence === cancelled)).toHaveLength(2)
  expect(sentences(world, ada).at(-1)).toBe(cancelled)
  expect(aliveOf(world, ada.user.id)).toEqual([])
})

test('notices within a minute that a machine vanished while its image was loading, and bills nothing', async () => {
  const ada = await loading(NEVER)
  world.advance(40)
  await world.ring(ada.user.id)
  const vanished = world.clock.ms
  world.ec2.inject('terminate_instance', 1, { instance_id: aliveOf(world, ada.user.id)[0]?.instanceId ?? '' })
  await world.watch()
  await settle(world, ada)
  const run = await latestRun(world, ada.user.id)
  expect(run).toMatchObject({ billedFrom: null, meteredUntil: null })
  expect(run.stopRequestedAt).toBeLessThan(vanished + 60_000)
  expect(await jobsOf(world, ada.user.id)).toMatchObject([
    { errorCode: 'instance_lost' },
    { errorCode: 'instance_lost' },
  ])
  expect(sentences(world, ada).at(-1)).toMatch(/ You weren't charged\.$/)
})

test('an answer that comes just after the stop was accepted starts no meter', async () => {
  const ada = await loading(10_000)
  world.advance(20)
  let isStopped = false
  world.wire = async (call, effect) => {
    const answer = await effect()
    if (call === 'reach' && !isStopped) {
      isStopped = true
      await pressStop(world, ada)
    }
    return answer
  }
  await world.ring(ada.user.id)
  world.wire = (_, effect) => effect()
  expect(await latestRun(world, ada.user.id)).toMatchObject({
    stopRequestedAt: expect.any(Number),
    billedFrom: null,
  })
  await settle(world, ada)
})
