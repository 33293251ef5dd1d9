import { sql } from 'drizzle-orm'
import { invoices } from '../../db/schema.ts'
import { BILLING_CRON, runCron } from '../../src/server/cron.ts'
import { wakeOverdue } from '../../src/server/fleet/sweep.ts'
import { type Random, seededRandom } from '../../testing/random.ts'
import { type Customer, planCustomer } from './customers.ts'
import type { YearWorld } from './year-world.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

// A call without an answer takes real time, so there are fewer of those.
const STRIPE_FAULTS = ['error', 'error', 'error', 'lost_response', 'lost_response', 'lost_response', 'timeout'] as const

export type YearOptions = { customers: number; runs: number; seed: number; from: number; until: number }

/**
 * Everyone's year, with late, skipped, and doubled triggers and with both providers failing now and then. Ends in
 * quiet.
 */
export async function liveYear(
  world: YearWorld,
  { customers, runs, seed, from, until }: YearOptions,
): Promise<Customer[]> {
  const random = seededRandom(seed)
  const all: Customer[] = []
  for (let n = 0; n < customers; n++) planCustomer(world, seededRandom(seed + 1 + n), from, until, runs, all)
  planTriggers(world, random, from, until)
  await world.timeline.play(world.clock, until)
  world.stripe.heal()
  for (let n = 0; n < 30; n++) {
    await trigger(world, random, false)
    await world.timeline.play(world.clock, world.clock.now + 6 * HOUR)
  }
  return all
}

function planTriggers(world: YearWorld, random: Random, from: number, until: number): void {
  for (let at = from; at < until; ) {
    world.timeline.at(at, () => trigger(world, random, true))
    const outage = random.chance(0.1)
    if (outage) world.faults['no trigger for 12 days'] = (world.faults['no trigger for 12 days'] ?? 0) + 1
    at += outage ? 12 * DAY : random.between(HOUR, 3 * DAY)
  }
}

async function trigger(world: YearWorld, random: Random, faults: boolean): Promise<void> {
  const { ctx, triggerCtx, stripe, flaky } = world
  if (faults && random.chance(0.5))
    stripe.inject(random.pick(STRIPE_FAULTS), random.between(1, 4), random.between(0, 40))
  await stripe.settle()
  if (faults && random.chance(0.3)) flaky.inject(random)
  const twice = random.chance(0.2)
  if (twice) world.faults['trigger doubled'] = (world.faults['trigger doubled'] ?? 0) + 1
  await Promise.all([
    runCron(triggerCtx, BILLING_CRON),
    twice ? runCron(triggerCtx, BILLING_CRON) : null,
    wakeOverdue(ctx),
  ])
  flaky.heal()
  const open = await world.db.select({ url: invoices.hostedUrl }).from(invoices).where(sql`status = 'open'`)
  for (const { url } of open) if (random.chance(0.3)) await world.press(url)
  await stripe.settle()
}
