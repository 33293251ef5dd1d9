import { HOUR_MS } from '../../../src/domain/instant.ts'
import { independentBills, type SeenPlan } from '../independent-bill.ts'
import { paidFor, paidHours } from '../paid-hours.ts'
import { spanOf } from './programs.ts'
import type { Rule } from './rule.ts'

export const NOTHING_IS_LEFT: Rule[] = [
  {
    name: 'nothing-is-left',
    sentence:
      'When the faults stop and everyone stops, nothing runs, no place is held, and no job, launch, deletion of files, or email is unfinished.',
    broken: ({ world, rows, now }) => [
      ...world.ec2.alive().map(({ id }) => `${id} runs`),
      ...rows.runs.filter(({ endedAt }) => endedAt === null).map(({ id }) => `${id} is live`),
      ...rows.places.filter(({ reservedBy }) => reservedBy !== null).map(({ id }) => `${id} is held`),
      ...rows.line.map(({ userId }) => `${userId} waits in line`),
      ...rows.jobs.filter(({ runAt }) => runAt !== null).map(({ id, kind }) => `${kind} ${id} is due`),
      ...rows.launches
        .filter(({ outcome }) => outcome !== 'gone' && outcome !== 'refused')
        .map(({ token }) => `${token} is open`),
      ...rows.removals.filter(({ doneAt }) => doneAt === null).map(({ place }) => `${place} is being deleted`),
      ...rows.outbox
        .filter(({ sentAt, createdAt }) => sentAt === null && createdAt < now - HOUR_MS)
        .map(({ subject }) => `"${subject}" is not sent`),
    ],
  },
]

export const QUIET_RULES: Rule[] = [
  ...NOTHING_IS_LEFT,
  {
    name: 'the-ledger-is-theirs',
    sentence:
      "The bills equal those computed from EC2's and Stripe's records and from what programs did alone, to the cent.",
    broken: ({ world, rows, people, memory }) =>
      people.flatMap((person) => {
        const { user } = person
        const row = rows.users.find(({ id }) => id === user.id)
        if (!row || person.hasUnusualPlan || memory.lateLessons.has(user.id)) return []
        const known = new Set(rows.plans.map(({ stripeSubscriptionId }) => stripeSubscriptionId))
        const paid: SeenPlan[] = world.stripe
          .subscriptions()
          .filter(({ id, metadata }) => metadata.user_id === user.id && known.has(id))
          .map((plan) => ({
            hoursAt: (start: number) => paidHours(world.stripe.invoices(), plan.id, start),
            from: plan.billing_cycle_anchor * 1000,
            until: paidFor(plan),
            trial: false,
          }))
        const demo = rows.plans.find((plan) => plan.userId === user.id && plan.subType === 'demo')
        const first = Math.min(...paid.map((plan) => plan.from), Infinity)
        const trial: SeenPlan[] = demo ? [{ hoursAt: () => 0, from: demo.anchor, until: first, trial: true }] : []
        const runs = rows.runs.flatMap((run) => {
          const { id, userId, billedFrom, meteredUntil } = run
          if (userId !== user.id || billedFrom === null) return []
          return [spanOf(world, run, memory.blamed.has(id)) ?? { start: billedFrom, end: meteredUntil ?? Infinity }]
        })
        const until = Math.min(row.billedUntil, row.closedAt ?? Infinity)
        const expected = independentBills(row.createdAt, until, [...trial, ...paid], runs, row.closedAt)
        const written = rows.bills
          .filter((bill) => bill.userId === user.id && bill.corrects === null)
          .sort((a, b) => a.periodStart - b.periodStart)
          .map((bill) => ({ start: bill.periodStart, seconds: bill.seconds, cents: bill.amountCents }))
        return JSON.stringify(written) === JSON.stringify(expected)
          ? []
          : [`${user.name}: ${JSON.stringify(written)}, expected ${JSON.stringify(expected)}`]
      }),
  },
]
