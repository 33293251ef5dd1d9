import type { Invoice } from '../../../dev/stripe/objects.ts'
import { HOUR_MS } from '../../../src/domain/instant.ts'
import { isOverdue, iso, type Rule } from './rule.ts'

/** A row's moment is when we asked; Stripe answers up to this much later. */
const ANSWER_MS = 10_000
const CENTS: Record<string, number> = { proving_ground_basic_monthly: 2_500, proving_ground_premium_monthly: 25_000 }

const planOf = ({ parent }: Invoice) => parent?.subscription_details.subscription
const premiumLine = ({ lines }: Invoice) =>
  lines.data.find(({ amount, description }) => amount >= 0 && /premium/i.test(description ?? ''))

export const PLAN_CHANGES_RULES: Rule[] = [
  {
    name: 'plans-are-paid-for',
    sentence:
      'Nobody has a larger or smaller plan than they paid for at Stripe, and what they pay for is their plan here within 26 quiet hours.',
    broken: ({ world, rows, memory, now }) =>
      rows.plans.flatMap((plan) => {
        const { id, planType, status, paidUntil, endedAt, syncedAt, stripeSubscriptionId } = plan
        const found = world.stripe.subscriptions().find((one) => one.id === stripeSubscriptionId)
        const [item] = found?.items.data ?? []
        if (!found || !item || endedAt !== null) return []
        const own = world.stripe.invoices().filter((invoice) => planOf(invoice) === found.id)
        const paid = own.flatMap((invoice) => {
          const line = invoice.status === 'paid' ? premiumLine(invoice) : undefined
          return line ? [{ until: line.period.end * 1000, at: (invoice.status_transitions.paid_at ?? 0) * 1000 }] : []
        })
        // The period when we last asked. Stripe may have begun another since.
        const began = own.findLast(
          ({ billing_reason, created }) => billing_reason !== 'subscription_update' && created * 1000 <= syncedAt,
        )
        // Of several unpaid periods, the last payment pays for the current one.
        const isPaid = paid.some(
          ({ until, at }) => until > syncedAt - ANSWER_MS || (began && at >= began.created * 1000),
        )
        const isSmaller = found.status === 'active' && !item.price.lookup_key?.includes('premium')
        const isOther =
          found.status !== 'canceled' && !item.price.lookup_key?.startsWith(`proving_ground_${plan.planType}`)
        const since = memory.since(
          `other plan ${id}`,
          isOther,
          `${planType} ${item.price.lookup_key} ${item.current_period_start}`,
        )
        return [
          ...(planType === 'premium' && status === 'active' && paidUntil === null && !isPaid
            ? [`${id} is Premium since ${iso(syncedAt)}, and Stripe was not paid for it`]
            : []),
          ...(isSmaller && paid.some(({ until }) => until > now) ? [`${found.id} is paid as Premium, and is not`] : []),
          ...(since !== null && isOverdue(world, 'money', since, 26 * HOUR_MS, 4)
            ? [`${id} is ${planType} here, and ${item.price.lookup_key} at Stripe`]
            : []),
        ]
      }),
  },
  {
    name: 'upgrades-are-charged-once',
    sentence: 'An upgrade is charged once, at the price that we quoted.',
    broken: ({ world, people }) => {
      const charges = world.stripe
        .invoices()
        .filter((one) => one.billing_reason === 'subscription_update' && one.status === 'paid')
      const key = (one: Invoice) => `${planOf(one)} until ${iso((premiumLine(one)?.period.end ?? 0) * 1000)}`
      return [
        ...[...Map.groupBy(charges, key)].flatMap(([plan, all]) =>
          all.length > 1 ? [`${all.map(({ id }) => id)} of ${plan}`] : [],
        ),
        ...people.flatMap(({ quotes }) =>
          quotes.flatMap(({ subscription, cents, at }) => {
            const charge = charges.findLast((one) => planOf(one) === subscription && one.created * 1000 <= at)
            // Credit from Stripe pays first.
            return charge && (charge.starting_balance || charge.total === cents)
              ? []
              : [`${charge?.id} is over ${charge?.total}, we quoted ${cents}`]
          }),
        ),
      ]
    },
  },
  {
    name: 'plan-decisions-are-kept',
    sentence:
      'What someone last decided about their plan, and we accepted, is what Stripe charges from the next period on.',
    broken: ({ world, people }) =>
      people.flatMap(({ user, decision, hasUnusualPlan, closes }) => {
        const plan = world.stripe.subscriptions().find(({ id }) => id === decision?.subscription)
        if (!decision || !plan || hasUnusualPlan || closes) return []
        const renewals = world.stripe
          .invoices()
          .filter(
            (one) =>
              planOf(one) === plan.id &&
              one.billing_reason === 'subscription_cycle' &&
              one.created * 1000 >= decision.at,
          )
        const { what, was, at } = decision
        const cents = { upgrade: 25_000, downgrade: 2_500, keep: CENTS[was ?? ''], cancel: 0 }[what]
        const isOver = plan.status === 'canceled' && plan.cancel_at_period_end
        return [
          ...renewals.flatMap(({ id, lines }) =>
            lines.data[0]?.amount === cents
              ? []
              : [`${user.name} decided ${what} at ${iso(at)}, and ${id} is over ${lines.data[0]?.amount}`],
          ),
          ...(isOver && what !== 'cancel' && (plan.ended_at ?? 0) * 1000 > at
            ? [`${user.name} decided ${what} at ${iso(at)}, and ${plan.id} has ended`]
            : []),
        ]
      }),
  },
]
