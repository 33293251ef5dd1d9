import type { Rows } from './database.ts'
import type { Memory } from './memory.ts'
import { debtsOf } from './rules/debts.ts'

const EDGE_MS = 2 * 60_000

/** Interesting states in the product's rows that are new since the last step. */
export function sightings(rows: Rows, memory: Memory): string[] {
  const { users, runs, jobs, plans, places, checkouts, outbox, webhooks } = rows
  return [
    ...jobs.flatMap(({ id, errorCode }) =>
      errorCode !== null && memory.jobs.get(id)?.errorCode == null ? [`job failed: ${errorCode}`] : [],
    ),
    ...runs.flatMap(({ id, endsAt, stopRequestedAt }) =>
      endsAt !== null && (stopRequestedAt ?? 0) >= endsAt && memory.runs.get(id)?.stopRequestedAt == null
        ? ['end set by its user']
        : [],
    ),
    ...runs.flatMap(({ id, warnedEnd, endsAt }) =>
      warnedEnd !== null && warnedEnd === endsAt && memory.runs.get(id)?.warnedEnd !== warnedEnd
        ? ['warned of an end']
        : [],
    ),
    ...runs.flatMap(({ id, mustStopAt, stopRequestedAt }) =>
      mustStopAt !== null && (stopRequestedAt ?? 0) >= mustStopAt && memory.runs.get(id)?.stopRequestedAt == null
        ? ['trial over']
        : [],
    ),
    ...runs.flatMap(({ id, shortSeconds, creditSeconds }) =>
      shortSeconds && !memory.runs.get(id)?.shortSeconds ? [creditSeconds ? 'credited for EC2' : 'cut for EC2'] : [],
    ),
    ...runs.flatMap(({ id, planEnds, stopRequestedAt }) =>
      planEnds && stopRequestedAt !== null && memory.runs.get(id)?.stopRequestedAt == null ? ['outgrew its plan'] : [],
    ),
    ...users.flatMap((user) => {
      const before = memory.users.get(user.id)
      if (!before) return []
      const isEdge = Math.abs((user.closedAt ?? 0) - before.billingDueAt + EDGE_MS) < EDGE_MS
      return [
        ...(user.suspendedAt !== null && before.suspendedAt === null ? ['suspended'] : []),
        ...(user.suspendedAt !== null && before.suspendedAt === null && debtsOf(user, rows).length > 0
          ? ['suspended for a debt']
          : []),
        ...(user.suspendedAt === null && before.suspendedAt !== null ? ['suspension lifted'] : []),
        ...(user.stopWarnedAt !== null && before.stopWarnedAt === null ? ['warned'] : []),
        ...(user.closedAt !== null && before.closedAt === null && isEdge ? ['closed at the edge of a cycle'] : []),
      ]
    }),
    ...plans.flatMap((plan) => {
      const before = memory.plans.get(plan.id)
      const checkout = checkouts.find(({ userId, status }) => userId === plan.userId && status === 'open')
      return [
        ...(plan.paidUntil !== null && before?.paidUntil == null ? ['plan unpaid'] : []),
        ...(plan.cancelAtPeriodEnd && !before?.cancelAtPeriodEnd ? ['plan canceled'] : []),
        ...(before?.planType === 'premium' && plan.planType === 'basic' ? ['downgrade took effect'] : []),
        ...(before === undefined && plan.stripeSubscriptionId !== null && checkout
          ? ['plan known before its checkout']
          : []),
      ]
    }),
    ...webhooks.flatMap(({ id, offAt }) =>
      offAt !== null && memory.webhooks.get(id)?.offAt == null ? ['webhook switched off'] : [],
    ),
    ...outbox.flatMap(({ cause }) =>
      cause !== null && !memory.causes.has(cause) ? [`mailed ${/^hours:\d+|^\w+/.exec(cause)}`] : [],
    ),
    ...places.flatMap(({ id, setAsideUntil }) =>
      setAsideUntil > (memory.places.get(id)?.setAsideUntil ?? 0) ? ['place set aside'] : [],
    ),
  ]
}
