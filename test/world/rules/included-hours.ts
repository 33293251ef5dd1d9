import type { Invoice } from '../../../dev/stripe/objects.ts'
import { HOUR_MS } from '../../../src/domain/instant.ts'
import { periodAt } from '../../../src/domain/money/billing.ts'
import { toSpan } from '../../../src/server/billing/bills/plan-spans.ts'
import { LATEST_RENEWAL_S } from '../stripe.ts'
import { iso, type Rule } from './rule.ts'

export const INCLUDED_HOURS_RULES: Rule[] = [
  {
    name: 'paid-hours-are-included',
    sentence: "A bill includes a plan's hours exactly if Stripe was paid for that period before its end.",
    broken: ({ world, rows, memory }) =>
      rows.bills.flatMap((bill) => {
        if (bill.corrects !== null || memory.bills.has(bill.id)) return []
        const customer = rows.users.find(({ id }) => id === bill.userId)?.stripeCustomerId
        const charges = world.stripe
          .invoices()
          .filter(
            ({ parent, customer: payer, billing_reason }) =>
              parent !== null && payer === customer && billing_reason !== 'subscription_update',
          )
        // A plan bought in the second in which an unpaid one renews begins the same period.
        const ofPeriod = charges.filter(({ lines }) => (lines.data[0]?.period.start ?? 0) * 1000 === bill.periodStart)
        const own = ofPeriod.find(({ status }) => status === 'paid') ?? ofPeriod[0]
        if (!own) return []
        const idOf = ({ parent }: Invoice) => parent?.subscription_details.subscription
        const paidAtOf = ({ status_transitions }: Invoice) => (status_transitions.paid_at ?? Infinity) * 1000
        const next = charges.find(({ lines }) => lines.data[0]?.period.start === own.lines.data[0]?.period.end)
        const plan = world.stripe.subscriptions().find(({ id }) => id === idOf(own))
        const paidFor = (own.lines.data[0]?.period.end ?? 0) * 1000
        const renewedAt = next
          ? Math.max(paidFor, next.created * 1000)
          : paidFor + (plan?.ended_at ? LATEST_RENEWAL_S * 1000 : 0)
        // Ended in the dashboard in the second of its renewal: that bill has no plan.
        if ((plan?.ended_at ?? Infinity) * 1000 <= bill.periodStart) return []
        const paidAt = paidAtOf(own)
        const isPaid = paidAt < bill.periodEnd
        // Someone paid an older charge meanwhile, or after closing the account, or before a late renewal: it may count here.
        // So it may before a late end: Stripe doesn't tell how late that was.
        const others = charges.filter((one) => idOf(one) === idOf(own)).map(paidAtOf)
        if (!isPaid && others.some((at) => at >= bill.periodStart && at <= renewedAt)) return []
        // Only if a trigger in that period learned about the payment, or its failure.
        const heardFrom = Math.max(isPaid ? paidAt : bill.periodStart, world.calm.since.money) + 26 * HOUR_MS
        if (!world.calm.rounds.some((at) => heardFrom < at && at < bill.periodEnd)) return []
        // Hours return only once the unpaid period before them has its bill: it takes a trigger an hour after that bill,
        // or one after this period that asks Stripe before it bills. Of two at once, one bills without having asked.
        const unpaid = rows.bills.find(
          ({ userId, corrects, includedHours, periodEnd }) =>
            userId === bill.userId && corrects === null && includedHours === 0 && periodEnd === bill.periodStart,
        )
        const returnFrom = isPaid && unpaid ? unpaid.createdAt + HOUR_MS : 0
        const wasAsked = rows.plans.some(
          ({ stripeSubscriptionId, syncedAt }) => stripeSubscriptionId === idOf(own) && syncedAt < bill.createdAt,
        )
        if (!wasAsked && !world.calm.rounds.some((at) => returnFrom < at && at < bill.periodEnd)) return []
        return isPaid === bill.includedHours > 0
          ? []
          : [`${bill.id} includes ${bill.includedHours} hours, its period was paid ${iso(paidAt)}`]
      }),
  },
  {
    name: 'hours-come-once',
    sentence: 'A period of a plan gives its hours to one bill.',
    broken: ({ rows }) =>
      rows.plans.flatMap((plan) => {
        if (plan.stripeSubscriptionId === null) return []
        const { anchor, endsAt } = toSpan(plan)
        // A grant beside a plan that was over when we heard of it outlives the plan. Other grants since its start never counted.
        const later = rows.plans.filter(
          (one) =>
            one.userId === plan.userId &&
            one.anchor > anchor &&
            (one.stripeSubscriptionId !== null || (toSpan(one).endsAt ?? Infinity) > (endsAt ?? Infinity)),
        )
        const until = Math.min(endsAt ?? Infinity, ...later.map((one) => one.anchor))
        const periods = rows.bills
          .filter((bill) => bill.userId === plan.userId && bill.corrects === null && bill.includedHours > 0)
          // Before we heard of this plan, a bill's hours were those of a granted one.
          .filter((bill) => bill.createdAt >= plan.createdAt)
          .filter((bill) => anchor <= bill.periodStart && bill.periodStart < until)
          .map((bill) => periodAt(anchor, bill.periodStart).start)
        return periods
          .filter((start, i) => periods.indexOf(start) !== i)
          .map((start) => `two bills have the hours of ${plan.stripeSubscriptionId} from ${iso(start)}`)
      }),
  },
]
