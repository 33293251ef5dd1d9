import { bills } from '../../db/schema/billing.ts'
import { addMonths } from '../../src/domain/money/billing.ts'
import { correctBill } from '../../src/server/billing/bills/corrections.ts'
import { endGrantedPlan, grantPlan } from '../../src/server/billing/plans/grants.ts'
import { addPlaces, retirePlace } from '../../src/server/fleet/places.ts'
import type { Random } from '../../testing/random.ts'
import type { Person } from './people.ts'
import { LATEST_RENEWAL_S } from './stripe.ts'
import type { World } from './world.ts'

const MOST_LOST = 2
/** Those with a dot end the instance while it is pending. */
const PLACE_REFUSALS = [
  'Unsupported',
  'InsufficientFreeAddressesInSubnet',
  'Server.InsufficientInstanceCapacity',
  'Server.InternalError',
  'Client.VolumeLimitExceeded',
]

/** Decides what EC2 does or refuses from now on. */
export function cloudHappening(world: World, random: Random): void {
  const { ec2 } = world
  const happening = random.between(0, 11)
  const times = random.between(1, 5)
  if (happening === 0) ec2.inject('InsufficientInstanceCapacity', times)
  else if (happening === 1) ec2.inject(random.pick(PLACE_REFUSALS), times)
  else if (happening === 2)
    ec2.inject(random.pick(['VcpuLimitExceeded', 'UnauthorizedOperation', 'Client.InstanceLimitExceeded']), times)
  else if (happening === 3) ec2.inject('RequestLimitExceeded', 3 * times)
  else if (happening === 4) {
    ec2.inject('lost_response', random.between(1, 3), { action: 'RunInstances' })
    if (random.chance(0.8)) ec2.inject('UnauthorizedOperation', 1, { action: 'RunInstances' })
  } else if (happening === 5) ec2.conditions.hiddenMs = random.between(2_000, 60_000)
  else if (happening === 6) ec2.conditions.bootMs = random.between(1_000, 11 * 60_000)
  else if (happening === 7) ec2.conditions.shutdownMs = random.between(1_000, 120_000)
  else if (happening === 8) {
    ec2.conditions.wrongRegion = true
    world.note('wrong region')
  } else {
    const victim = random.pick(ec2.alive())
    // If EC2 loses and forgets three at once, only an operator can say that they are gone.
    if (!victim || ec2.vanished.size >= MOST_LOST) return
    if (happening === 9) {
      ec2.inject('InvalidInstanceID.NotFound', times, { instance_id: victim.id })
      return
    }
    try {
      ec2.vanish(victim.id)
      world.note('instance vanished')
    } catch {
      // EC2 does not show it yet.
    }
  }
}

/** What happens at Stripe without the customer, or at its edge. */
export function stripeHappening(world: World, random: Random, people: Person[]): void {
  const { stripe } = world
  const happening = random.between(0, 11)
  // Until the next happening at Stripe, our endpoint is down, or renewals take up to an hour.
  stripe.conditions.losesWebhooks = happening === 8
  stripe.conditions.renewsLateBy = happening === 10 ? random.between(60, LATEST_RENEWAL_S) : 0
  stripe.passTime()
  const subscription = random.pick(stripe.subscriptions().filter(({ status }) => status !== 'canceled'))
  const open = random.pick(stripe.invoices().filter(({ status, parent }) => status === 'open' && parent === null))
  if (happening <= 1) {
    stripe.inject(random.pick(['error', 'lost_response']), random.between(1, 6))
  } else if (happening === 2) {
    stripe.forgetKeys()
    world.note('idempotency keys forgotten')
  } else if (happening === 3 && open) {
    stripe.voidInvoice(open.id)
    world.note('invoice voided')
  } else if (happening === 4 && open) {
    stripe.markUncollectible(open.id)
    world.note('invoice uncollectible')
  } else if (subscription) {
    const owner = people.find(({ user }) => user.id === subscription.metadata.user_id)
    const what = random.between(0, 6)
    if (what <= 1) {
      stripe.cancelNow(subscription.id)
      world.note('plan ended in the dashboard')
    } else if (what === 2 && subscription.cancel_at_period_end && owner) {
      stripe.resume(subscription.id)
      owner.hasUnusualPlan = true
      world.note('plan resumed in the dashboard')
    } else stripe.setCard(subscription.id, random.chance(0.7) ? 'declined_later' : 'good')
  }
}

/** What an operator does by hand. */
export async function operatorDeed(world: World, random: Random, person: Person): Promise<void> {
  const deed = random.between(0, 8)
  if (deed <= 3) {
    const rows = (await world.database.db.select().from(bills)).filter((bill) => bill.corrects === null)
    const bill = random.pick(rows)
    if (!bill) return
    const seconds = random.chance(0.5) ? bill.seconds + random.between(1, 4_000) : Math.floor(bill.seconds / 2)
    const change = await correctBill(world.ctx, bill.id, { seconds, reason: 'Support' })
    if (change) world.note(change.amountCents < 0 ? 'bill credited' : 'bill corrected')
  } else if (deed === 4) {
    person.hasUnusualPlan = true
    await grantPlan(world.ctx, person.user.email, { type: random.pick(['basic', 'premium']), hours: 5 })
    world.note('plan granted')
  } else if (deed === 5) {
    person.hasUnusualPlan = true
    await endGrantedPlan(world.ctx, person.user.email)
    world.note('granted plan or trial ended by hand')
  } else if (deed === 6) {
    const rows = await world.database.read()
    const open = rows.places.filter(({ retiredAt }) => retiredAt === null)
    const inUse = open.filter(({ reservedBy }) => reservedBy)
    const place = random.pick(inUse.length ? inUse : open)
    if (!place) return
    await retirePlace(world.ctx, place.id)
    world.note(place.reservedBy ? 'place retired in use' : 'place retired')
  } else await addPlaces(world.ctx, { instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1a', gpus: 1, count: 1 })
}

/** The next moments that a rule depends on, in ms since 1970. */
export async function edges(world: World): Promise<number[]> {
  const { users, runs, jobs, plans, invoices, checkouts } = await world.database.read()
  const now = world.clock.ms
  return [
    ...users.flatMap(({ billingDueAt, suspendedAt }) => [
      billingDueAt - 120_000,
      billingDueAt,
      ...(suspendedAt ? [suspendedAt + 2 * 86_400_000, suspendedAt + 3 * 86_400_000] : []),
    ]),
    ...runs.flatMap((run) =>
      run.endedAt === null
        ? [
            run.mustStopAt ?? 0,
            run.endsAt ?? 0,
            run.requestedAt + 600_000,
            (run.runningAt ?? 0) + 600_000,
            (run.unseenSince ?? 0) + 90_000,
          ]
        : [],
    ),
    ...jobs.flatMap(({ runAt }) => runAt ?? []),
    ...plans.flatMap((plan) =>
      plan.endedAt === null ? [1, 2, 3].map((months) => addMonths(plan.anchor, months)) : [],
    ),
    ...invoices.flatMap(({ dueAt, status }) => (status === 'open' ? (dueAt ?? []) : [])),
    ...checkouts.flatMap((one) => (one.status === 'open' ? [24, 25].map((h) => one.createdAt + h * 3_600_000) : [])),
  ].filter((at) => at > now && at < now + 45 * 86_400_000)
}
