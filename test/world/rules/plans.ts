import { HOUR_MS } from '../../../src/domain/instant.ts'
import { isOverdue, iso, type Rule } from './rule.ts'

export const PLANS_RULES: Rule[] = [
  {
    name: 'large-servers-end-with-their-plan',
    sentence: 'A server that is larger than its owner pays for at Stripe is stopped within 27 quiet hours.',
    broken: ({ world, rows, people, memory }) =>
      people.flatMap(({ user, hasUnusualPlan }) => {
        const large = rows.runs.find(
          ({ userId, placeId, stopRequestedAt }) =>
            userId === user.id &&
            stopRequestedAt === null &&
            rows.places.some(({ id, gpus }) => id === placeId && gpus > 1),
        )
        const isPremium = world.stripe.subscriptions().some(
          ({ metadata, status, items }) =>
            metadata.user_id === user.id &&
            items.data.some(
              ({ price, current_period_end }) =>
                price.lookup_key?.includes('premium') &&
                // One that ended within a period keeps its servers until then.
                (status !== 'canceled' || current_period_end * 1000 > world.clock.ms),
            ),
        )
        const since = memory.since(`large ${user.id}`, Boolean(large) && !isPremium, large?.id)
        return large && since !== null && !hasUnusualPlan && isOverdue(world, 'money', since, 27 * HOUR_MS, 4)
          ? [
              `${large.id} of ${user.name} runs since ${iso(large.requestedAt)}, and the plan is smaller since ${iso(since)}`,
            ]
          : []
      }),
  },
  {
    name: 'what-is-paid-is-a-plan',
    sentence:
      'A plan paid at Stripe is a plan here within 3 quiet hours, and one that ended there ends here within 26.',
    broken: ({ world, rows, people, memory }) => [
      ...world.stripe.subscriptions().flatMap(({ id, status, metadata }) => {
        const owner = people.find(({ user }) => user.id === metadata.user_id)
        const row = rows.plans.find(({ stripeSubscriptionId }) => stripeSubscriptionId === id)
        const missing = status !== 'canceled' && row?.endedAt !== null
        const since = memory.since(`unknown plan ${id}`, missing)
        return since !== null && owner?.closedAt === null && isOverdue(world, 'money', since, 3 * HOUR_MS, 4)
          ? [`${owner.user.name} pays for ${id} since ${iso(since)}, and has no plan`]
          : []
      }),
      ...rows.plans.flatMap((plan) => {
        const found = world.stripe.subscriptions().find(({ id }) => id === plan.stripeSubscriptionId)
        const since = memory.since(`ended plan ${plan.id}`, plan.endedAt === null && found?.status === 'canceled')
        return since !== null && isOverdue(world, 'money', since, 26 * HOUR_MS, 4)
          ? [`${plan.id} ended at Stripe ${iso(since)}`]
          : []
      }),
    ],
  },
  {
    name: 'one-plan-is-charged',
    sentence: 'Nobody pays for two plans for longer than 3 quiet hours, and a closed account for none.',
    broken: ({ world, people, memory }) =>
      people.flatMap(({ user, closedAt }) => {
        const paying = world.stripe
          .subscriptions()
          .filter(({ metadata, status }) => metadata.user_id === user.id && status !== 'canceled')
        const since = memory.since(
          `pays ${user.id}`,
          paying.length > (closedAt === null ? 1 : 0),
          `${paying.map(({ id }) => id)}`,
        )
        return since !== null && isOverdue(world, 'money', since, 3 * HOUR_MS, 4)
          ? [`${user.name} pays for ${paying.map(({ id }) => id)}, closed ${iso(closedAt)}`]
          : []
      }),
  },
  {
    name: 'plan-payments-are-in-the-books',
    sentence: "Every invoice for a plan is in its owner's history once, with the right amount within 26 quiet hours.",
    broken: ({ world, rows, people, memory }) =>
      world.stripe.invoices().flatMap(({ id, parent, status, total, customer, billing_reason: reason }) => {
        const subscription = parent?.subscription_details.subscription
        const plan = rows.plans.find((one) => subscription && one.stripeSubscriptionId === subscription)
        const owner = people.find((one) => one.user.id === plan?.userId)
        if (!plan || !owner || status === 'draft') return []
        const kept = rows.planPayments.filter((one) => one.stripeInvoiceId === id)
        const [own] = kept
        const fits = own?.userId === plan.userId && own.amountCents === total && own.status === status
        // An upgrade that waited for the bank, and lapsed: nobody owed it.
        const isLapsed = reason === 'subscription_update' && (status === 'void' || status === 'open')
        const since = memory.since(`books ${id}`, !fits && !isLapsed, `${status} ${total}`)
        return [
          ...(kept.length > 1 ? [`${id} of ${customer} is in ${kept.length} rows`] : []),
          ...(since !== null && owner.closedAt === null && isOverdue(world, 'money', since, 26 * HOUR_MS, 4)
            ? [
                `${id} of ${owner.user.name} is ${status} over ${total}, in the history ${own?.status} over ${own?.amountCents}`,
              ]
            : []),
        ]
      }),
  },
]
