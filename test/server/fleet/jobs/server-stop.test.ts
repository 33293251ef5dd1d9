import { eq } from 'drizzle-orm'
import { expect, test, vi } from 'vitest'
import { launches } from '../../../../db/schema/fleet.ts'
import { AppError } from '../../../../src/domain/error.ts'
import { runSeconds, startupSeconds } from '../../../../src/domain/money/billing.ts'
import { costText } from '../../../../src/domain/money/money.ts'
import { formatUptime } from '../../../../src/domain/server.ts'
import { closeDueCycles } from '../../../../src/server/billing/bills/close-cycles.ts'
import { stopRun } from '../../../../src/server/fleet/stop-run.ts'
import { toServer } from '../../../../src/server/fleet/wire.ts'
import { memoryDatabase } from '../../../../testing/stack/memory-database.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'
import {
  aliveOf,
  type Customer,
  freshPlaces,
  holders,
  instancesOf,
  jobsOf,
  latestRun,
  newCustomer,
} from '../../../../testing/world/fleet.ts'
import { finishJobs, pressStart, pressStop, running, sentences, settle } from '../../../../testing/world/play.ts'
import { openWorld } from '../../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())

/** Nothing alive, nothing reserved, every job finished. */
async function expectNothingLeft(customer: Customer) {
  expect(aliveOf(world, customer.user.id)).toEqual([])
  expect(await holders(world)).not.toContain((await latestRun(world, customer.user.id)).id)
  for (const job of await jobsOf(world, customer.user.id)) expect(['succeeded', 'failed']).toContain(job.status)
}

test('a stop ends the meter when accepted, and its receipt says how long the server ran', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  world.advance(3_725)
  const accepted = world.clock.ms
  const { run, job } = await pressStop(world, ada)
  expect(run.meteredUntil).toBeGreaterThanOrEqual(accepted)
  expect(run.meteredUntil).toBeLessThan(accepted + 100)
  expect(job).toMatchObject({ kind: 'server_stop', status: 'queued' })
  world.advance(20)
  await settle(world, ada)
  const ended = await latestRun(world, ada.user.id)
  expect(ended.meteredUntil).toBe(run.meteredUntil)
  const seconds = runSeconds(ended.billedFrom ?? 0, ended.meteredUntil ?? 0)
  const startup = formatUptime(startupSeconds(ended.requestedAt, ended.billedFrom ?? 0))
  expect(sentences(world, ada).slice(-2)).toEqual([
    'Stopping server...',
    `Server stopped. You used ${formatUptime(seconds)}, covered by your plan. Startup (${startup}) was free.`,
  ])
  await expectNothingLeft(ada)
})

test('an ended run keeps what it added to the bill: only what the plan does not cover', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { secondsUsed: 5 * 3600 - 600 })
  const { startedAt } = toServer(await running(world, ada))
  expect(toServer(await latestRun(world, ada.user.id))).toMatchObject({ cost_dollars: null, ended_because: null })
  world.advance(1_000)
  await pressStop(world, ada)
  await settle(world, ada)
  const ended = await latestRun(world, ada.user.id)
  const charged = runSeconds(ended.billedFrom ?? 0, ended.meteredUntil ?? 0) - 600
  expect(charged).toBeGreaterThan(390)
  expect(toServer(ended)).toMatchObject({ startedAt, cost_dollars: (charged * 4861) / 1e7, ended_because: 'you' })
  expect(sentences(world, ada).at(-1)).toContain(`: ${costText((charged * 4861) / 1e7)}. Startup`)
})

test('a month that cannot be counted keeps no place, and the cost follows', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { secondsUsed: 5 * 3600 })
  await running(world, ada)
  world.advance(1_000)
  await pressStop(world, ada)
  world.wire = async (name, effect) => {
    if (name.startsWith('db: select select "billing_records"')) throw new Error('RESPONSE_TOO_LARGE')
    return effect()
  }
  await settle(world, ada)
  world.wire = (_, effect) => effect()
  await expectNothingLeft(ada)
  expect(inBrief(world.takeLines())).toEqual(['job_step_failed', 'job_step_failed', 'run_cost_not_read'])
  const ended = await latestRun(world, ada.user.id)
  const seconds = runSeconds(ended.billedFrom ?? 0, ended.meteredUntil ?? 0)
  expect(ended.costUnits).toBeNull()
  expect(sentences(world, ada).at(-1)).toContain(`Server stopped. You used ${formatUptime(seconds)}. Startup`)
  await closeDueCycles(world.ctx)
  expect((await latestRun(world, ada.user.id)).costUnits).toBe(seconds * 4861)
})

test('an ended run of a trial cost nothing, and one that ran in two months cost its part of both', async () => {
  await freshPlaces(world, 2)
  const ada = await newCustomer(world, { demo: true })
  const bob = await newCustomer(world)
  await running(world, ada)
  await running(world, bob)
  world.advance(60)
  await pressStop(world, ada)
  await settle(world, ada)
  expect((await latestRun(world, ada.user.id)).costUnits).toBe(0)
  world.advance(32 * 86_400)
  await pressStop(world, bob)
  await settle(world, bob)
  const ended = await latestRun(world, bob.user.id)
  // Five hours of each month are included.
  const seconds = runSeconds(ended.billedFrom ?? 0, ended.meteredUntil ?? 0)
  expect(ended.costUnits).toBe((seconds - 2 * 5 * 3600) * 4861)
  expect(sentences(world, bob).at(-1)).toMatch(/^Server stopped\. You used 32d 0h \d+m \d+s: \$1,3\d\d\.\d\d\. Startup/)
})

test('an ended run says why: the user, the end of the trial, or a failure', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { demo: true, secondsUsed: 1_790 })
  await running(world, ada)
  await settle(world, ada)
  expect(toServer(await latestRun(world, ada.user.id))).toMatchObject({ ended_because: 'trial_over', cost_dollars: 0 })
  const bob = await newCustomer(world)
  await pressStart(world, bob)
  await pressStop(world, bob)
  await settle(world, bob)
  expect(toServer(await latestRun(world, bob.user.id))).toMatchObject({ ended_because: 'you', startedAt: null })
  const eve = await newCustomer(world)
  await running(world, eve)
  world.ec2.inject('terminate_instance', 1, { instance_id: aliveOf(world, eve.user.id)[0]?.instanceId ?? '' })
  await world.watch()
  await settle(world, eve)
  expect(toServer(await latestRun(world, eve.user.id))).toMatchObject({
    ended_because: 'failure',
    error_code: 'instance_lost',
    error_message: expect.stringMatching(/^Your server stopped unexpectedly/),
  })
})

test('the receipt counts refused launches and the startup time they took', async () => {
  await freshPlaces(world, 3)
  const ada = await newCustomer(world)
  world.ec2.inject('InsufficientInstanceCapacity', 2)
  await running(world, ada)
  world.advance(65)
  await pressStop(world, ada)
  await settle(world, ada)
  expect(sentences(world, ada).at(-1)).toMatch(
    /^Server stopped\. You used 1m \d+s, covered by your plan\. Startup \(\d+s, 2 refused launches\) was free\.$/,
  )
})

test.each([
  ['reserved', 0],
  ['launched', 1],
  ['booting', 2],
])('a start can be stopped while it is %s', async (_, rings) => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  for (let i = 0; i < rings; i++) await world.ring(ada.user.id)
  expect(aliveOf(world, ada.user.id)).toHaveLength(Math.min(rings, 1))
  await pressStop(world, ada)
  await settle(world, ada)
  await expectNothingLeft(ada)
  const said = sentences(world, ada)
  const cancelled = "Start cancelled. You weren't charged."
  // The start says it, and so does the stop at its end.
  expect(said.filter((sentence) => sentence === cancelled)).toHaveLength(2)
  expect(said.at(-1)).toBe(cancelled)
  expect(await latestRun(world, ada.user.id)).toMatchObject({ runningAt: null, meteredUntil: null, errorMessage: null })
  expect(await jobsOf(world, ada.user.id)).toMatchObject([
    { kind: 'server_start', status: 'failed', errorCode: 'stopped' },
    { kind: 'server_stop', status: 'succeeded' },
  ])
})

test('a start can be stopped while it waits for an address', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  const real = world.ctx.cloud.findInstance
  world.ctx.cloud.findInstance = async (id) => {
    const found = await real(id)
    return found && { ...found, publicIp: null }
  }
  while (sentences(world, ada).at(-1) !== 'Getting an address…') await world.ring(ada.user.id)
  await pressStop(world, ada)
  await settle(world, ada)
  world.ctx.cloud.findInstance = real
  await expectNothingLeft(ada)
  expect(await latestRun(world, ada.user.id)).toMatchObject({ runningAt: null, meteredUntil: null })
})

test.each([
  'ec2: launch',
  'db: batch update "launches" set',
  'db: UPDATE server_sessions SET running',
  'reach',
  'db: batch UPDATE server_sessions SET billed',
])('obeys a stop accepted while a step of the start is at "%s"', async (moment) => {
  await freshPlaces(world, 2)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  if (moment.includes('launches')) world.ec2.inject('InsufficientInstanceCapacity', 1)
  let stopped = false
  world.wire = async (call, effect) => {
    if (!stopped && call.startsWith(moment)) {
      stopped = true
      await pressStop(world, ada)
    }
    return effect()
  }
  await settle(world, ada)
  world.wire = (_, effect) => effect()
  expect(stopped).toBe(true)
  await expectNothingLeft(ada)
  expect(await latestRun(world, ada.user.id)).toMatchObject({ billedFrom: null, meteredUntil: null })
  const [start] = await jobsOf(world, ada.user.id)
  expect(start).toMatchObject({ kind: 'server_start', status: 'failed', errorCode: 'stopped' })
})

test('a start that fails while a stop is accepted keeps the reason already reported: it was stopped', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  const real = world.ctx.cloud.launch
  world.ctx.cloud.launch = async () => {
    await pressStop(world, ada)
    return {
      refused: 'place',
      noCapacity: true,
      code: 'InsufficientInstanceCapacity',
      error: new AppError('unavailable', ''),
    }
  }
  await settle(world, ada)
  world.ctx.cloud.launch = real
  expect(await jobsOf(world, ada.user.id)).toMatchObject([
    { kind: 'server_start', status: 'failed', errorCode: 'stopped' },
    { kind: 'server_stop', status: 'succeeded' },
  ])
  expect((await latestRun(world, ada.user.id)).errorMessage).toBeNull()
  await expectNothingLeft(ada)
})

test('a stop accepted while a failed start cleans up ends the run itself, with its own receipt', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  world.takeLines()
  world.ec2.inject('InsufficientInstanceCapacity', 1)
  let accepted: number | null = null
  world.wire = async (name, effect) => {
    if (name.startsWith('db: batch UPDATE server_sessions SET ended_at') && accepted === null) {
      accepted = 0
      accepted = (await pressStop(world, ada)).run.stopRequestedAt
      world.advance(1)
    }
    return effect()
  }
  await settle(world, ada)
  world.wire = (_, effect) => effect()
  expect(accepted).toBeGreaterThan(0)
  expect(inBrief(world.takeLines())).toEqual(['alert launch_refused:InsufficientInstanceCapacity'])
  expect(await jobsOf(world, ada.user.id)).toMatchObject([
    { kind: 'server_start', status: 'failed' },
    { kind: 'server_stop', status: 'succeeded' },
  ])
  expect(await latestRun(world, ada.user.id)).toMatchObject({ stopRequestedAt: accepted, errorMessage: null })
  await expectNothingLeft(ada)
})

test('someone who still sees the first place can stop a start that moved to another', async () => {
  const [first, second] = await freshPlaces(world, 2)
  const ada = await newCustomer(world)
  const { run } = await pressStart(world, ada)
  world.ec2.inject('InsufficientInstanceCapacity', 1)
  await finishJobs(world, ada)
  expect((await latestRun(world, ada.user.id)).placeId).toBe(second)
  const input = { runId: run.id, placeId: first ?? '' }
  expect((await stopRun(world.ctx, ada.user.id, input)).job.kind).toBe('server_stop')
  await world.process.settle()
  await settle(world, ada)
  await expectNothingLeft(ada)
})

test.each(['lost_response', 'timeout', 'RequestLimitExceeded', 'UnauthorizedOperation'])(
  '%s of TerminateInstances delays the end, not the meter',
  async (fault) => {
    await freshPlaces(world, 1)
    const ada = await newCustomer(world)
    await running(world, ada)
    world.advance(60)
    const { run } = await pressStop(world, ada)
    const patient = AbortSignal.timeout.bind(AbortSignal)
    const impatient = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => patient(ms === 10_000 ? 300 : ms))
    world.ec2.inject(fault, 2, { action: 'TerminateInstances' })
    await settle(world, ada)
    impatient.mockRestore()
    expect((await latestRun(world, ada.user.id)).meteredUntil).toBe(run.meteredUntil)
    await expectNothingLeft(ada)
  },
)

test('a server that vanished before it was stopped is metered until last seen', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  await world.ring(ada.user.id)
  const { confirmedAt } = await latestRun(world, ada.user.id)
  world.advance(5)
  world.ec2.inject('terminate_instance', 1, { instance_id: aliveOf(world, ada.user.id)[0]?.instanceId ?? '' })
  world.advance(15)
  await pressStop(world, ada)
  await settle(world, ada)
  const run = await latestRun(world, ada.user.id)
  expect(run.meteredUntil).toBe(confirmedAt)
  expect(run.meteredUntil).toBeLessThanOrEqual(instancesOf(world, ada.user.id)[0]?.shuttingDownAt ?? 0)
  await expectNothingLeft(ada)
})

test('finds and ends an instance that EC2 made after we gave up on its launch', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await pressStart(world, ada)
  const real = world.ctx.cloud.launch
  const silent = async () => {
    throw new Error('no answer')
  }
  // Nine minutes of failed tries; EC2 carries out the last one ten seconds after the person gave up.
  world.ctx.cloud.launch = silent
  const begun = world.clock.ms
  while (world.clock.ms < begun + 540_000) {
    await world.ring(ada.user.id)
    world.advance(60)
  }
  let late: (() => Promise<unknown>) | undefined
  world.ctx.cloud.launch = async (launch) => {
    late = () => real(launch)
    return silent()
  }
  await world.ring(ada.user.id)
  await pressStop(world, ada)
  await world.ring(ada.user.id)
  world.advance(10)
  await late?.()
  await settle(world, ada)
  world.ctx.cloud.launch = real
  const [token] = await world.db
    .select()
    .from(launches)
    .where(eq(launches.runId, (await latestRun(world, ada.user.id)).id))
  expect(token?.outcome).toBe('gone')
  expect(instancesOf(world, ada.user.id)).toHaveLength(1)
  await expectNothingLeft(ada)
})
