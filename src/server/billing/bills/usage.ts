import { and, desc, eq, gt, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import { users } from '../../../../db/schema/accounts.ts'
import { type PlanRow, plans } from '../../../../db/schema/billing.ts'
import { runs } from '../../../../db/schema/fleet.ts'
import { DAY_MS, toIso } from '../../../domain/instant.ts'
import { meterEnd, recordCents, runSecondsWithin } from '../../../domain/money/billing.ts'
import { BUDGET_PAGE, type Budget, isBudgetReached, OVER_BUDGET } from '../../../domain/money/budget.ts'
import { type Cycle, cycleAt, type PlanSpan } from '../../../domain/money/cycle.ts'
import { isUnpaid, planOffered, stands } from '../../../domain/money/plan.ts'
import { HELD, NO_TRIAL, PAY_PLAN, PLAN_UNPAID, SUSPENDED } from '../../../domain/money/start-cost.ts'
import type { StartRefusal, Summary } from '../../../domain/wire/billing.ts'
import type { Context } from '../../runtime/context.ts'
import { type MeteredRun, meteredColumns } from './metered-run.ts'
import { toSpan } from './plan-spans.ts'

const LONGEST_CYCLE_MS = 32 * DAY_MS

/** The reads for the current cycle, in one round trip, alone or together with other reads. */
export function usageQueries(ctx: Context, userId: string | SQL) {
  const inDemo = sql`EXISTS (SELECT 1 FROM ${plans} WHERE ${plans.userId} = ${userId}
    AND ${plans.endedAt} IS NULL AND ${plans.subType} = 'demo')`
  return [
    planHistoryQuery(ctx, userId),
    ctx.db
      .select(meteredColumns)
      .from(runs)
      .where(
        and(
          eq(runs.userId, userId),
          isNotNull(runs.runningAt),
          // A run that never answered has no `meteredUntil`.
          or(isNull(runs.endedAt), gt(runs.meteredUntil, ctx.now() - LONGEST_CYCLE_MS), inDemo),
        ),
      )
      .orderBy(desc(runs.requestedAt)),
  ] as const
}

export function planHistoryQuery(ctx: Context, userId: string | SQL) {
  return ctx.db
    .select({
      plan: plans,
      billedUntil: users.billedUntil,
      createdAt: users.createdAt,
      suspendedAt: users.suspendedAt,
      heldAt: users.heldAt,
      budgetCents: users.budgetCents,
      budgetStops: users.budgetStops,
    })
    .from(users)
    .leftJoin(plans, eq(plans.userId, users.id))
    .where(eq(users.id, userId))
}

/** When their first plan other than a trial began, bought or granted; null if they never had one. */
export const firstPaidAt = (userId: string | SQL): SQL =>
  sql`(SELECT min(anchor) FROM subscriptions WHERE user_id = ${userId} AND sub_type = 'paid')`

/** The user with each of their plans, or with none. */
export type PlanHistory = {
  plan: PlanRow | null
  billedUntil: number
  createdAt: number
  suspendedAt: number | null
  heldAt: number | null
  budgetCents: number | null
  budgetStops: boolean
}[]

export type Usage = {
  plan: PlanRow | null
  /** They have had a plan or a trial. */
  everHadPlan: boolean
  suspended: boolean
  /** An operator suspended them. */
  held: boolean
  budget: Budget | null
  cycle: Cycle
  /** Counted up to this moment. */
  at: number
  seconds: number
  sessions: number
  running: number
}

/** Where the last closed cycle ended, and the plans that cut the time since. */
export function openTime(history: PlanHistory): { from: number; spans: PlanSpan[] } {
  const spans = history.flatMap(({ plan }) => (plan ? [toSpan(plan)] : []))
  return { from: history[0]?.billedUntil || history[0]?.createdAt || 0, spans }
}

/** Counts the current cycle's runs up to `now`, by the same rules that close it. A demo counts its whole trial. */
export function countUsage(history: PlanHistory, runRows: MeteredRun[], now: number): Usage {
  const planRows = history.flatMap(({ plan }) => (plan ? [plan] : []))
  const cents = history[0]?.budgetCents ?? null
  const { from, spans } = openTime(history)
  const cycle = cycleAt(spans, Math.min(from, now), now)
  const inCycle = runRows.filter(
    (run) => run.billedFrom !== null && run.billedFrom < cycle.end && meterEnd(run, now) >= cycle.start,
  )
  return {
    plan: planRows.find((plan) => stands(plan, now)) ?? null,
    // A plan whose first payment never came ends where it began.
    everHadPlan: planRows.some(({ anchor, endedAt }) => endedAt === null || endedAt > anchor),
    suspended: history.some((row) => row.suspendedAt !== null),
    held: history.some((row) => row.heldAt !== null),
    budget: cents === null ? null : { cents, stops: history[0]?.budgetStops ?? false },
    cycle,
    at: now,
    seconds: inCycle.reduce((sum, run) => sum + runSecondsWithin(run.billedFrom ?? now, meterEnd(run, now), cycle), 0),
    sessions: inCycle.length,
    running: runRows.filter((run) => run.endedAt === null).length,
  }
}

export async function getUsage(ctx: Context, userId: string): Promise<Usage> {
  const [history, runRows] = await ctx.db.batch([...usageQueries(ctx, userId)])
  return countUsage(history, runRows, ctx.now())
}

export function toSummary(usage: Usage): Summary {
  const { plan, cycle } = usage
  return {
    monthlyUsage: {
      hoursUsed: usage.seconds / 3600,
      serverSessions: usage.sessions,
      runningServers: usage.running,
      amountOwedDollars: recordCents(usage.seconds, cycle) / 100,
    },
    subscription: plan && {
      plan_type: plan.planType,
      status: plan.status,
      current_period_start: toIso(cycle.start),
      current_period_end: Number.isFinite(cycle.end) ? toIso(cycle.end) : null,
      hours: cycle.plan ? cycle.includedHours : plan.hours,
      sub_type: plan.subType,
      cancel_at_period_end: plan.cancelAtPeriodEnd,
      ...nextOf(plan),
    },
    suspended: usage.suspended,
    start_refusal: usage.held ? { code: 'held', error: HELD, page: '/contact_sales' } : unpaidRefusal(usage),
    as_of: toIso(usage.at),
  }
}

/** What they must pay, or which limit they must raise, before they can start a server. */
export function unpaidRefusal(
  usage: Pick<Usage, 'suspended' | 'plan' | 'everHadPlan' | 'budget' | 'seconds' | 'cycle'>,
): StartRefusal | null {
  if (usage.suspended) return { code: 'suspended', error: SUSPENDED, page: '/billing_history' }
  if (isUnpaid(usage.plan)) return { code: 'plan_unpaid', error: PLAN_UNPAID, page: PAY_PLAN }
  // Otherwise they would run servers on credit, without a card.
  if (!usage.everHadPlan) return { code: 'no_plan', error: NO_TRIAL, page: '/subscriptions' }
  if (usage.budget?.stops && isBudgetReached(usage.budget, usage))
    return { code: 'budget', error: OVER_BUDGET, page: BUDGET_PAGE }
  return null
}

/** A plan that ends has no next period, and a trial has no periods. */
function nextOf(plan: PlanRow) {
  if (plan.subType === 'demo' || plan.cancelAt !== null) return { next_plan_type: null, next_hours: null }
  const next = planOffered(plan.nextPlanType)
  return { next_plan_type: next?.type ?? plan.planType, next_hours: next?.hours ?? plan.hours }
}
