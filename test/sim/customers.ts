import { eq } from 'drizzle-orm'
import { runs, users } from '../../db/schema.ts'
import type { User } from '../../src/domain/wire.ts'
import { cancelAtPeriodEnd } from '../../src/server/billing/plans/cancel-plan.ts'
import { createCheckout } from '../../src/server/billing/plans/checkout.ts'
import { startRun, stopRun } from '../../src/server/fleet/runs.ts'
import type { Random } from '../../testing/random.ts'
import type { YearWorld } from './year-world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** What the simulation knows about a customer, independently of the product's database. */
export type Customer = {
  user: User
  born: number
  trial: boolean
  /** When a stop was accepted, by session. */
  stopped: Map<string, number>
  sessions: string[]
  /** How often they pressed Start. */
  pressed: number
}

/**
 * Plans one person's year: a trial or none, plans bought and canceled, servers started and stopped, some of which
 * vanish.
 */
export function planCustomer(
  world: YearWorld,
  random: Random,
  from: number,
  until: number,
  runRows: number,
  all: Customer[],
) {
  const { clock, timeline } = world
  const born = from + random.between(0, 60 * DAY)
  timeline.at(born, async () => {
    const customer: Customer = {
      user: await world.newUser(born),
      born,
      trial: random.chance(0.6),
      stopped: new Map(),
      sessions: [],
      pressed: 0,
    }
    all.push(customer)
    if (customer.trial)
      await world.insertPlan(customer.user.id, { planType: 'demo', subType: 'demo', status: 'trialing', hours: 0.5 })
    for (let n = 0; n < runRows; n++)
      timeline.at(random.between(born + MINUTE, until - 3 * DAY), () => run(world, random, customer))
    if (random.chance(0.75))
      timeline.at(random.between(born, born + 120 * DAY), () => subscribe(world, random, customer))
    // On the 31st, which the next month may not have.
    else if (random.chance(0.5))
      timeline.at(
        Date.UTC(new Date(from).getUTCFullYear(), 0, 31, 13),
        () => clock.now > born && subscribe(world, random, customer),
      )
  })
}

async function run(world: YearWorld, random: Random, customer: Customer): Promise<void> {
  const { ctx, db, clock, timeline, ec2 } = world
  const { user } = customer
  const [row] = await db.select({ suspendedAt: users.suspendedAt }).from(users).where(eq(users.id, user.id))
  if (random.chance(0.15))
    ec2.inject(random.pick(['RequestLimitExceeded', 'InsufficientInstanceCapacity', 'lost_response', 'Unavailable']), 1)
  customer.pressed += 1
  const started = await startRun(ctx, { user, suspended: row?.suspendedAt != null }).catch(() => null)
  if (!started) return
  const { id: runId, placeId } = started.run
  customer.sessions.push(runId)
  // From seconds to more than a day.
  const length = random.chance(0.5) ? Math.round(10_000 * 2 ** (random.next() * 13)) : random.between(HOUR, 30 * HOUR)
  world.alarmDelay.set(user.id, length / random.pick([4, 4, 4, 20]))
  if (random.chance(0.06)) timeline.at(clock.now + random.between(5_000, length), () => vanish(world, runId))
  const stop = async () => {
    const [current] = await db.select().from(runs).where(eq(runs.id, runId))
    const before = current?.stopRequestedAt
    const accepted = await stopRun(ctx, user.id, { runId, placeId: current?.placeId ?? placeId }).catch(() => null)
    if (accepted && before === null) customer.stopped.set(runId, clock.now)
  }
  timeline.at(clock.now + length, stop)
}

async function vanish(world: YearWorld, runId: string): Promise<void> {
  const instance = world.ec2.instances().find((i) => i.tags.session === runId && i.state === 'running')
  if (instance) world.ec2.inject('terminate_instance', 1, { instance_id: instance.instanceId })
}

async function subscribe(world: YearWorld, random: Random, customer: Customer): Promise<void> {
  const { ctx, clock, timeline } = world
  const again = (after: number) => timeline.at(clock.now + after, () => subscribe(world, random, customer))
  // Wait until nothing runs, because a trial's last run then has minutes at stake. Its rules are tested elsewhere.
  if (await isBusy(world, customer)) return again(DAY)
  const plan = random.pick(['basic', 'basic', 'premium'])
  const page = await createCheckout(ctx, customer.user, { planType: plan }).catch(() => null)
  if (!page) return again(2 * DAY)
  timeline.at(clock.now + random.between(5_000, 20 * MINUTE), async () => {
    if (await isBusy(world, customer)) return
    await world.press(page.url)
    if (random.chance(0.5))
      timeline.at(clock.now + random.between(DAY, 150 * DAY), async () => {
        await cancelAtPeriodEnd(ctx, customer.user).catch(() => null)
        if (random.chance(0.5)) again(40 * DAY)
      })
  })
}

async function isBusy({ db }: YearWorld, customer: Customer): Promise<boolean> {
  const rows = await db.select().from(runs).where(eq(runs.userId, customer.user.id))
  return rows.some((row) => row.endedAt === null)
}
