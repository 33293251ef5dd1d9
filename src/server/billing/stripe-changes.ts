import type Stripe from 'stripe'
import { AppError } from '../../domain/error.ts'
import { addMonths } from '../../domain/money/billing.ts'
import { type PlanType, planOffered } from '../../domain/money/plan.ts'
import type { Payments, Upgrade } from '../ports/payments.ts'
import { bankAsks, declinedEarlier, withKey } from './stripe-errors.ts'
import { priceLookupKey } from './stripe-objects.ts'

/** Calls Stripe, and translates its errors. */
export type Ask = <T>(call: (stripe: Stripe) => Promise<T>) => Promise<T>

/** The calls that change an existing plan. */
export function planChanges(
  ask: Ask,
): Pick<Payments, 'quoteUpgrade' | 'upgrade' | 'scheduleChange' | 'releaseSchedule'> {
  return {
    quoteUpgrade: (subscription, upgrade) =>
      ask(async (s) => {
        const subscription_details = await prorated(s, subscription, upgrade)
        return (await s.invoices.createPreview({ subscription, subscription_details })).amount_due
      }),

    upgrade: (id, upgrade, idempotencyKey) =>
      ask(async (s) => {
        const change = { ...(await prorated(s, id, upgrade)), cancel_at_period_end: false }
        const metadata = { upgraded_at: String(seconds(upgrade.at)), upgraded_from: upgrade.from }
        // All or nothing: if the card is declined, the plan stays as it was. The metadata is part of the change itself,
        // so that a reader sees both or neither.
        const pay = (key: string) =>
          withKey(key, (options) =>
            s.subscriptions.update(
              id,
              { ...change, payment_behavior: 'error_if_incomplete', metadata: { ...metadata, plan_type: upgrade.to } },
              options,
            ),
          )
        try {
          // They may have another card by now.
          await pay(idempotencyKey).catch((error) => {
            if (!declinedEarlier(error)) throw error
            return pay(`${idempotencyKey}:${crypto.randomUUID()}`)
          })
        } catch (error) {
          if (!bankAsks(error)) throw error
          // Not every version of Stripe's API takes metadata with a pending change, so it is written first. Readers ignore it
          // until the price differs (`toSubscription`).
          await withKey(`${idempotencyKey}:metadata`, (key) => s.subscriptions.update(id, { metadata }, key))
          await withKey(`${idempotencyKey}:pending`, (key) =>
            s.subscriptions.update(id, { ...change, payment_behavior: 'pending_if_incomplete' }, key),
          )
        }
      }),

    scheduleChange: (subscription, to, idempotencyKey) =>
      ask(async (s) => {
        const price = await findPrice(s, to)
        const made = await withKey(
          `${idempotencyKey}:create`,
          (key) => s.subscriptionSchedules.create({ from_subscription: subscription }, key),
          () => findSchedule(s, subscription),
        )
        const [current] = made.phases
        const [item] = current?.items ?? []
        if (!current || !item) throw new Error(`The schedule ${made.id} has no phase`)
        const now = typeof item.price === 'string' ? item.price : item.price.id
        const change: Stripe.SubscriptionScheduleUpdateParams = {
          end_behavior: 'release',
          metadata: { next_plan: to },
          phases: [
            {
              items: [{ price: now, quantity: 1 }],
              start_date: current.start_date,
              end_date: current.end_date,
            },
            {
              items: [{ price, quantity: 1 }],
              start_date: current.end_date,
              end_date: seconds(addMonths(current.end_date * 1000, 1)),
              proration_behavior: 'none',
              metadata: { plan_type: to },
            },
          ],
        }
        await withKey(`${idempotencyKey}:phases`, (key) => s.subscriptionSchedules.update(made.id, change, key))
      }),

    releaseSchedule: (id) =>
      ask(async (s) => {
        await s.subscriptionSchedules.release(id)
      }),
  }
}

/** The one that the subscription follows, if any. */
async function findSchedule(s: Stripe, subscription: string): Promise<Stripe.SubscriptionSchedule | null> {
  const { schedule } = await s.subscriptions.retrieve(subscription, { expand: ['schedule'] })
  return typeof schedule === 'object' ? schedule : null
}

const seconds = (ms: number) => Math.floor(ms / 1000)

/** The change of price, charged from `at`. The quote and the upgrade must agree to the cent. */
async function prorated(s: Stripe, id: string, { to, at }: Upgrade) {
  const { items } = await s.subscriptions.retrieve(id)
  const [item] = items.data
  if (!item) throw new Error(`The subscription ${id} has no item`)
  return {
    items: [{ id: item.id, price: await findPrice(s, to) }],
    proration_behavior: 'always_invoice' as const,
    proration_date: seconds(at),
  }
}

/** Finds the price at Stripe by our lookup key. Refuses one that differs from what we advertise. */
export async function findPrice(s: Stripe, planType: PlanType): Promise<string> {
  const lookupKey = priceLookupKey(planType)
  const price = (await s.prices.list({ lookup_keys: [lookupKey], active: true, limit: 1 })).data[0]
  const dollars = planOffered(planType)?.dollarsPerMonth
  if (price?.lookup_key === lookupKey && dollars && price.unit_amount === dollars * 100) return price.id
  throw new AppError('provider_failed', "You can't buy this plan right now. Please contact sales.", {
    cause: new Error(
      `The price ${lookupKey} at Stripe is ${price?.unit_amount ?? 'missing'}, expected ${dollars} dollars.`,
    ),
  })
}
