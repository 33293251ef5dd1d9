import { and, desc, eq, gt, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import { type SessionRow, type SubscriptionRow, serverSessions, subscriptions, users } from '../../../../db/schema.ts'
import { DAY_MS, toIso } from '../../../domain/instant.ts'
import { meterEnd, recordCents, runSecondsWithin } from '../../../domain/money/billing.ts'
import { type Cycle, cycleAt } from '../../../domain/money/cycle.ts'
import { stands } from '../../../domain/money/plan.ts'
import type { Summary } from '../../../domain/wire.ts'
import type { Context } from '../../context.ts'
import { toSpan } from './plan-spans.ts'

const LONGEST_CYCLE_MS = 32 * DAY_MS

/** What it takes to know the current cycle: for one database round trip, alone or together with other reads. */
export function usageQueries(ctx: Context, userId: string | SQL) {
  const inDemo = sql`EXISTS (SELECT 1 FROM ${subscriptions} WHERE ${subscriptions.userId} = ${userId}
    AND ${subscriptions.endedAt} IS NULL AND ${subscriptions.subType} = 'demo')`
  return [
    ctx.db
      .select({
        plan: subscriptions,
        billedUntil: users.billedUntil,
        createdAt: users.createdAt,
        suspendedAt: users.suspendedAt,
      })
      .from(users)
      .leftJoin(subscriptions, eq(subscriptions.userId, users.id))
      .where(eq(users.id, userId)),
    ctx.db
      .select()
      .from(serverSessions)
      .where(
        and(
          eq(serverSessions.userId, userId),
          isNotNull(serverSessions.runningAt),
          // One that never answered keeps no end of its meter.
          or(isNull(serverSessions.endedAt), gt(serverSessions.meteredUntil, ctx.now() - LONGEST_CYCLE_MS), inDemo),
        ),
      )
      .orderBy(desc(serverSessions.requestedAt)),
  ] as const
}

/** The user with each of their plans, or with none. */
type PlanHistory = {
  plan: SubscriptionRow | null
  billedUntil: number
  createdAt: number
  suspendedAt: number | null
}[]

export type Usage = {
  subscription: SubscriptionRow | null
  suspended: boolean
  cycle: Cycle
  /** Counted up to this moment. */
  at: number
  seconds: number
  sessions: number
  running: number
}

/** Counts the runs of the current cycle up to `now`, by the rules that close it. A demo is measured over its whole trial. */
export function countUsage(history: PlanHistory, runs: SessionRow[], now: number): Usage {
  const plans = history.flatMap(({ plan }) => (plan ? [plan] : []))
  const from = history[0]?.billedUntil || history[0]?.createdAt || 0
  const cycle = cycleAt(plans.map(toSpan), Math.min(from, now), now)
  const inCycle = runs.filter(
    (run) => run.billedFrom !== null && run.billedFrom < cycle.end && meterEnd(run, now) >= cycle.start,
  )
  return {
    subscription: plans.find((plan) => stands(plan, now)) ?? null,
    suspended: history.some((row) => row.suspendedAt !== null),
    cycle,
    at: now,
    seconds: inCycle.reduce((sum, run) => sum + runSecondsWithin(run.billedFrom ?? now, meterEnd(run, now), cycle), 0),
    sessions: inCycle.length,
    running: runs.filter((run) => run.endedAt === null).length,
  }
}

export async function getUsage(ctx: Context, userId: string): Promise<Usage> {
  const [history, runs] = await ctx.db.batch([...usageQueries(ctx, userId)])
  return countUsage(history, runs, ctx.now())
}

export function toSummary(usage: Usage): Summary {
  const { subscription, cycle } = usage
  return {
    monthlyUsage: {
      hoursUsed: usage.seconds / 3600,
      serverSessions: usage.sessions,
      runningServers: usage.running,
      amountOwedDollars: recordCents(usage.seconds, cycle) / 100,
    },
    subscription: subscription && {
      plan_type: subscription.planType,
      status: subscription.status,
      current_period_start: toIso(cycle.start),
      current_period_end: Number.isFinite(cycle.end) ? toIso(cycle.end) : null,
      hours: cycle.plan ? cycle.includedHours : subscription.hours,
      sub_type: subscription.subType,
      cancel_at_period_end: subscription.cancelAtPeriodEnd,
    },
    suspended: usage.suspended,
    as_of: toIso(usage.at),
  }
}
