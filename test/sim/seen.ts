import type { InstanceRecord } from '../../dev/ec2/history.ts'
import type { Customer } from './customers.ts'
import type { SeenPlan, SeenRun } from './independent-bill.ts'
import { listAtStripe } from './stripe-list.ts'
import type { YearWorld } from './year-world.ts'

const TRIAL_SECONDS = 1800
const HOURS: Record<string, number> = { proving_ground_basic_monthly: 5, proving_ground_premium_monthly: 30 }

type StripePlan = {
  metadata: { user_id?: string }
  billing_cycle_anchor: number
  ended_at: number | null
  cancel_at: number | null
  items: { data: { price: { lookup_key: string } }[] }
}

/** Everyone's plans as Stripe has them, and the trials as the simulation granted them. */
export async function seenPlans(world: YearWorld, customers: Customer[]): Promise<Map<string, SeenPlan[]>> {
  const bought = await listAtStripe<StripePlan>(world.stripe.apiBase, 'subscriptions?status=all')
  return new Map(
    customers.map(({ user, born, trial }) => {
      const paid = bought
        .filter((plan) => plan.metadata.user_id === user.id)
        .map((plan) => ({
          hours: HOURS[plan.items.data[0]?.price.lookup_key ?? ''] ?? Number.NaN,
          from: plan.billing_cycle_anchor * 1000,
          until: ((plan.ended_at ?? plan.cancel_at) || Infinity) * 1000,
          trial: false,
        }))
      const first = Math.min(...paid.map((plan) => plan.from), Infinity)
      const demo = trial ? [{ hours: 0, from: born, until: first, trial: true }] : []
      return [user.id, [...demo, ...paid]]
    }),
  )
}

/**
 * A customer's runs, from EC2's record, from what EC2 and the server answered, and from when stops were accepted. A
 * run counts from its server's first answer until its stop was accepted, its trial was over, or, if it vanished
 * earlier, until it was last seen.
 */
export function seenRuns(
  world: YearWorld,
  customer: Customer,
  plans: SeenPlan[],
  records: Map<string, InstanceRecord[]>,
): (SeenRun & { ran: SeenRun })[] {
  let trialUsed = 0
  return customer.sessions.flatMap((run) => {
    const sight = world.sights.get(run)
    const record = records.get(run)?.find((r) => r.runningAt !== null)
    if (!sight || sight.first === null || !record?.runningAt) return []
    const { first } = sight
    const stopped = customer.stopped.get(run) ?? Infinity
    if (stopped <= first) return []
    const second = Math.ceil(first / 1000)
    const trialEnd = (second + TRIAL_SECONDS - trialUsed) * 1000
    const told = world.told.get(customer.user.id) ?? Infinity
    const inTrial = plans.some((plan) => plan.trial && plan.from <= first) && first < told
    let end = inTrial && trialEnd <= told ? Math.min(stopped, trialEnd) : stopped
    const gone = record.shuttingDownAt ?? Infinity
    // It was gone after the end, but the product looked only after that, so it never saw the server run until the
    // end.
    const lookedTooLate = sight.last < end && sight.missed !== null && sight.missed >= gone
    if (gone < end || lookedTooLate) end = sight.last
    if (inTrial) trialUsed += Math.max(0, Math.floor(end / 1000) - second)
    return [{ start: first, end, ran: { start: record.runningAt, end: gone } }]
  })
}
