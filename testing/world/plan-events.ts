import { signature } from '../../dev/stripe/webhooks.ts'
import type { User } from '../../src/domain/wire/accounts.ts'
import { createCheckout } from '../../src/server/billing/plans/checkout.ts'
import { receiveStripeEvent } from '../../src/server/billing/stripe-events.ts'
import type { BillingStack } from '../stack/billing-stack.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

export type PlanEvent = {
  id: string
  type: string
  created: number
  data: { object: { customer?: string; id: string } }
}

/** People of that stack who buy a plan, and the Stripe events about it, delivered by hand. */
export function planEvents(stack: BillingStack) {
  return {
    /** On a trial, with a minute used. */
    async demoUser(): Promise<User> {
      const user = await stack.newUser()
      await stack.insertPlan(user.id, { planType: 'demo', subType: 'demo', status: 'trialing', hours: 0.5 })
      await stack.insertRun(user.id, { from: stack.clock.now + HOUR, until: stack.clock.now + HOUR + 60_000 })
      stack.clock.now += DAY
      return user
    },

    /** Buys Basic. */
    async live(user: User): Promise<void> {
      const { url } = await createCheckout(stack.ctx, user, { planType: 'basic' })
      await stack.press(url)
    },

    /** The events of the user's plan so far, oldest first. */
    async eventsOf(user: User): Promise<PlanEvent[]> {
      const all = async <T>(path: string) => (await stack.atStripe<{ data: T[] }>(path)).data
      const [customer] = await all<{ id: string }>(`customers?email=${encodeURIComponent(user.email)}`)
      const events = await all<PlanEvent>('events?limit=100')
      return events
        .filter((e) => e.data.object.customer === customer?.id && /subscription|checkout/.test(e.type))
        .reverse()
    },

    deliver(event: PlanEvent) {
      const payload = JSON.stringify(event)
      const signed = signature(payload, 'whsec_local', Math.floor(stack.clock.now / 1000))
      return receiveStripeEvent(stack.ctx, { payload, signature: signed })
    },
  }
}
