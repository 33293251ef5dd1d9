import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { places } from '../../db/schema.ts'
import { type Ec2StandIn, startEc2 } from '../../dev/ec2/stand-in.ts'
import { freePort } from '../../dev/free-port.ts'
import { receiveStripeEvent } from '../../src/server/billing/stripe-events.ts'
import type { Context } from '../../src/server/context.ts'
import { ec2Cloud } from '../../src/server/fleet/ec2.ts'
import { runDue } from '../../src/server/fleet/jobs/runner.ts'
import { openLog } from '../../src/server/log.ts'
import { type BillingStack, type DatabaseKind, openBillingStack } from '../../testing/stack/billing-stack.ts'
import { flakyDatabase } from './flaky-database.ts'
import { Timeline } from './timeline.ts'

/**
 * When a run's server first answered the product, when the product last saw it up, and when EC2 first reported the
 * instance gone.
 */
type Sight = { first: number | null; last: number; missed: number | null }

export type YearWorld = BillingStack & {
  ec2: Ec2StandIn
  timeline: Timeline
  sights: Map<string, Sight>
  /** When Stripe first told the product that a user has a plan. Until then, it may count a run toward the trial. */
  told: Map<string, number>
  /** How often each fault happened. */
  faults: Record<string, number>
  /** The context of the triggers. On request, their database fails now and then. */
  triggerCtx: Context
  flaky: ReturnType<typeof flakyDatabase>
  /** Alarms come up to this late while a server runs; set before a run. */
  alarmDelay: Map<string, number>
}

const BOOT_MS = 4_000
/** How long a machine runs before its image answers: most at once, some after minutes, a few never. */
const ANSWERS_AFTER_MS = [0, 0, 0, 0, 7_000, 7_000, 50_000, 200_000, 400_000]
const ONE_IN_NEVER_ANSWERS = 25

/** The product's own verbs and jobs with both stand-ins, on one clock that jumps from event to event. */
export async function openYearWorld(start: number, placeRows: number, database: DatabaseKind): Promise<YearWorld> {
  const timeline = new Timeline()
  const stack = await openBillingStack(start, { webhookOrder: 'shuffled', database, timeoutMs: 500 })
  const { clock, db } = stack
  const ec2Dir = mkdtempSync(join(tmpdir(), 'year-ec2-'))
  const ec2 = await startEc2({
    dataDir: ec2Dir,
    bootMs: BOOT_MS,
    now: () => clock.now,
    webPort: await freePort(),
    firstSlot: 40_000,
  })
  const sights = new Map<string, Sight>()
  const told = new Map<string, number>()
  const runOf = new Map<string, string>()
  const cloud = ec2Cloud({
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    EC2_LAUNCH_TEMPLATE: 'proving-ground',
    EC2_ENDPOINT: ec2.endpoint,
  })
  const alarmDelay = new Map<string, number>()
  const faults: Record<string, number> = {}
  const count = (fault: string) => {
    faults[fault] = (faults[fault] ?? 0) + 1
  }
  const flaky = flakyDatabase(db, count)

  /** One alarm per user, as the object has it: an earlier alarm replaces a later one. */
  const alarms = new Map<string, number>()
  function setAlarm(userId: string, at: number): void {
    if ((alarms.get(userId) ?? Infinity) <= at) return
    alarms.set(userId, at)
    timeline.at(at, async () => {
      if (alarms.get(userId) !== at) return
      alarms.delete(userId)
      const next = await runDue(ctx, userId, () => {}).catch(() => clock.now + 5_000)
      if (next === null) return
      const late = next > clock.now + 10_000 ? (alarmDelay.get(userId) ?? 0) : 0
      setAlarm(userId, Math.max(next, clock.now) + late)
    })
  }

  const { payments } = stack.ctx
  let machines = 0
  const answersFrom = new Map<string, number>()
  function answersAt(host: string): string | null {
    const machine = ec2.instances().find(({ publicIp, state }) => publicIp === host && state === 'running')
    if (!machine) return null
    let from = answersFrom.get(machine.instanceId)
    if (from === undefined) {
      machines += 1
      const record = ec2.history().find(({ instanceId }) => instanceId === machine.instanceId)
      const after = ANSWERS_AFTER_MS[machines % ANSWERS_AFTER_MS.length] ?? 0
      from = machines % ONE_IN_NEVER_ANSWERS === 0 ? Infinity : (record?.runningAt ?? Infinity) + after
      answersFrom.set(machine.instanceId, from)
    }
    return clock.now >= from ? (machine.tags.session ?? '') : null
  }

  const ctx = {
    ...stack.ctx,
    async reach(host: string) {
      const run = answersAt(host)
      if (run === null) return { status: 'unreachable', code: 'ECONNREFUSED' }
      const sight = sights.get(run)
      sights.set(run, { missed: null, ...sight, first: sight?.first ?? clock.now, last: clock.now })
      return { status: 'reachable' }
    },
    random: () => 0,
    payments: {
      ...payments,
      async findSubscription(id) {
        const found = await payments.findSubscription(id)
        const userId = found?.userId ?? ''
        if (found && !told.has(userId)) told.set(userId, clock.now)
        return found
      },
    },
    cloud: {
      ...cloud,
      async findInstance(id) {
        const instance = await cloud.findInstance(id)
        const isRunning = instance?.state === 'running' && instance.publicIp
        if (instance) runOf.set(id, instance.tags.session ?? '')
        const run = runOf.get(id) ?? ''
        const sight = sights.get(run)
        if (isRunning) sights.set(run, { first: null, missed: null, ...sight, last: clock.now })
        else if (sight) sight.missed ??= clock.now
        return instance
      },
    },
    channel: (userId: string) => ({
      arm: async () => setAlarm(userId, clock.now + 30_000),
      wake: async () => setAlarm(userId, clock.now),
      revive: async () => setAlarm(userId, clock.now),
      disconnect: async () => {},
    }),
    background: (work: Promise<unknown>) => void work.catch(() => {}),
    log: openLog((line) => count(`logged ${JSON.parse(line).event}`)),
  } as Context

  const webhook = createServer(async (request, response) => {
    const payload = Buffer.concat(await request.toArray()).toString()
    const signature = String(request.headers['stripe-signature'])
    const taken = await receiveStripeEvent(ctx, { payload, signature }).then(
      () => true,
      () => false,
    )
    response.writeHead(taken ? 200 : 500).end()
  })
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve))
  stack.stripe.setWebhookUrl(`http://127.0.0.1:${(webhook.address() as { port: number }).port}`)
  await db.insert(places).values(
    Array.from({ length: placeRows }, (_, i) => ({
      id: `srv_year_${i}`,
      instanceType: 'g6.4xlarge',
      availabilityZone: `us-east-1${'abcd'[i % 4]}`,
      position: i + 1,
    })),
  )
  return {
    ...stack,
    ctx,
    triggerCtx: { ...ctx, db: flaky.db },
    flaky,
    faults,
    ec2: {
      ...ec2,
      inject(fault, times, options) {
        count(`EC2 ${fault}`)
        ec2.inject(fault, times, options)
      },
    },
    timeline,
    sights,
    told,
    alarmDelay,
    async close() {
      await stack.close()
      await ec2.close()
      webhook.closeAllConnections()
      webhook.close()
      rmSync(ec2Dir, { recursive: true, force: true })
    },
  }
}
