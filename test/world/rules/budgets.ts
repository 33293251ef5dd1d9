import type { RunRow } from '../../../db/schema/fleet.ts'
import { DAY_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import { periodAt, runSecondsWithin } from '../../../src/domain/money/billing.ts'
import type { Rows } from '../database.ts'
import { isSameCycle, secondsSeen } from './money-mails.ts'
import { isOverdue, iso, type Rule, type View } from './rule.ts'

const BUDGET_MAIL = /^Your budget of \$(\d+)/

export const BUDGETS_RULES: Rule[] = [
  {
    name: 'budgets-are-told-once',
    sentence: 'When a budget is used up, we send one email a month for it, and never before it is.',
    broken: ({ world, rows, people }) =>
      people.flatMap(({ user }) => {
        const mails = rows.outbox.filter(
          ({ recipient, subject }) => recipient === user.email && BUDGET_MAIL.test(subject),
        )
        return mails.flatMap(({ subject, createdAt }, i) => {
          const earlier = mails.slice(0, i).findLast((mail) => mail.subject === subject)?.createdAt
          const most = mostCents(rows, user.id, createdAt)
          return [
            ...(earlier !== undefined && isSameCycle({ world, rows }, user.id, earlier, createdAt)
              ? [`${user.name} got "${subject}" ${iso(earlier)} and ${iso(createdAt)}`]
              : []),
            ...(most < Number(BUDGET_MAIL.exec(subject)?.[1]) * 100
              ? [`${user.name} got "${subject}" at ${most} cents`]
              : []),
          ]
        })
      }),
  },
  {
    name: 'budgets-stop-servers',
    sentence:
      'A budget that stops servers does so within 15 quiet minutes after it is used up, and never before it is.',
    broken: ({ world, rows, memory, now }) => [
      ...rows.users.flatMap(({ id, name, budgetCents, budgetStops, createdAt, billedUntil }) => {
        const run = rows.runs.find((one) => one.userId === id && one.endedAt === null && one.stopRequestedAt === null)
        // With a plan, the month's hours come first: the dearest months have none.
        const start = Math.max(billedUntil || createdAt, monthStart(now))
        const spent = hadPlan(rows, id, now) || !run ? 0 : centsOf(secondsSeen(rows, id, start, now))
        const isUp = run !== undefined && budgetStops && budgetCents !== null && spent >= budgetCents
        const since = memory.since(`budget ${id} ${budgetCents} ${start}`, isUp)
        return since !== null && isOverdue(world, 'money', since, 15 * MINUTE_MS, 2)
          ? [`${name} spent ${spent} of ${budgetCents} cents since ${iso(since)}, and ${run?.id} runs on`]
          : []
      }),
      ...rows.runs.flatMap(({ id, userId, budgetCents, endsAt }) => {
        if (budgetCents === null || endsAt === null) return []
        const most = mostCents(rows, userId, endsAt)
        return most < budgetCents ? [`${id} ended at ${most} cents, its owner's budget is ${budgetCents}`] : []
      }),
    ],
  },
  {
    name: 'used-up-budgets-start-nothing',
    sentence: 'Nobody starts a server while a budget that stops servers is used up.',
    broken: (view) =>
      view.rows.runs
        .filter((run) => !view.memory.runs.has(run.id) && wasUsedUp(view, run))
        .map(({ id }) => `${id} started beyond its owner's budget`),
  },
]

/** Whether their budget, unchanged since, was used up at our last look. Counts only ended runs of people without a plan. */
function wasUsedUp({ rows, memory }: View, run: RunRow): boolean {
  const user = rows.users.find(({ id }) => id === run.userId)
  const before = memory.users.get(run.userId)
  if (!user || !before?.budgetStops || before.budgetCents === null) return false
  if (!user.budgetStops || user.budgetCents !== before.budgetCents) return false
  const { requestedAt } = run
  if (hadPlan(rows, user.id, requestedAt)) return false
  const start = Math.max(before.billedUntil || before.createdAt, monthStart(requestedAt))
  const seconds = [...memory.runs.values()]
    .filter(({ userId, endedAt }) => userId === user.id && endedAt !== null)
    .reduce(
      (sum, { billedFrom, meteredUntil }) =>
        sum + runSecondsWithin(billedFrom ?? 0, meteredUntil ?? 0, { start, end: requestedAt }),
      0,
    )
  return centsOf(seconds) >= before.budgetCents
}

/** Whether they had a plan in the longest month before that moment. */
function hadPlan({ plans }: Rows, userId: string, at: number): boolean {
  return plans.some((plan) => plan.userId === userId && (plan.endedAt ?? Infinity) > at - 32 * DAY_MS)
}

/** The most that a month can have cost at that moment: without a plan's hours, and meters not yet set back. */
function mostCents({ runs, plans }: Rows, userId: string, at: number): number {
  const periods = plans
    .filter((plan) => plan.userId === userId && plan.anchor <= at)
    .map(({ anchor }) => periodAt(anchor, at).start)
  const start = Math.min(monthStart(at), ...periods)
  const seconds = runs
    .filter((run) => run.userId === userId && run.billedFrom !== null)
    .reduce(
      (sum, { billedFrom, stopRequestedAt }) =>
        sum + runSecondsWithin(billedFrom ?? 0, Math.min(stopRequestedAt ?? Infinity, at), { start, end: at }),
      0,
    )
  // A second that has begun, for each run.
  return centsOf(seconds + runs.length)
}

const centsOf = (seconds: number) => Math.round((seconds * 4_861) / 100_000)
const monthStart = (at: number) => Date.UTC(new Date(at).getUTCFullYear(), new Date(at).getUTCMonth())
