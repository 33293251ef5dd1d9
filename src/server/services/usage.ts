import { and, desc, eq, gt, isNotNull, isNull, or, sql } from 'drizzle-orm'
import { serverSessions, subscriptions } from '../../../db/schema.ts'
import { calendarMonth, overageUnits, type Period, periodAt, runSeconds, unitsToDollars } from '../../domain/billing.ts'
import type { Summary } from '../../domain/wire.ts'
import type { Context } from '../context.ts'
import { type SessionRow, toIso } from '../wire.ts'

export type SubscriptionRow = typeof subscriptions.$inferSelect

const LONGEST_CYCLE_MS = 32 * 86_400_000

/** What it takes to know the current cycle: for one database round trip, alone or together with other reads. */
export function usageQueries(ctx: Context, userId: string) {
  const inDemo = sql`EXISTS (SELECT 1 FROM ${subscriptions} WHERE ${subscriptions.userId} = ${userId}
    AND ${subscriptions.endedAt} IS NULL AND ${subscriptions.subType} = 'demo')`
  return [
    ctx.db
      .select()
      .from(subscriptions)
      .where(and(eq(subscriptions.userId, userId), isNull(subscriptions.endedAt))),
    ctx.db
      .select()
      .from(serverSessions)
      .where(
        and(
          eq(serverSessions.userId, userId),
          isNotNull(serverSessions.runningAt),
          or(
            isNull(serverSessions.meteredUntil),
            gt(serverSessions.meteredUntil, ctx.now() - LONGEST_CYCLE_MS),
            inDemo,
          ),
        ),
      )
      .orderBy(desc(serverSessions.requestedAt)),
  ] as const
}

export type Usage = {
  subscription: SubscriptionRow | null
  cycle: Period
  seconds: number
  sessions: number
  running: number
}

/** Counts the runs of the current cycle up to `now`. A demo is measured over its whole trial. */
export function countUsage(subscription: SubscriptionRow | null, runs: SessionRow[], now: number): Usage {
  const cycle = currentCycle(subscription, now)
  const inCycle = runs
    .map((run) => ({
      run,
      start: Math.max(run.runningAt ?? now, cycle.start),
      end: Math.min(meterEnd(run, now), cycle.end),
    }))
    .filter(({ start, end }) => start <= end)
  return {
    subscription,
    cycle,
    seconds: inCycle.reduce((sum, { start, end }) => sum + runSeconds(start, end), 0),
    sessions: inCycle.length,
    running: runs.filter((run) => run.endedAt === null).length,
  }
}

/** Where a run's meter stands: its end, or now, but never past the end of its trial. */
export function meterEnd(run: SessionRow, now: number): number {
  return Math.min(run.meteredUntil ?? now, run.mustStopAt ?? Number.POSITIVE_INFINITY)
}

function currentCycle(subscription: SubscriptionRow | null, now: number): Period {
  if (!subscription) return calendarMonth(now)
  if (subscription.subType === 'demo') return { start: subscription.anchor, end: Number.POSITIVE_INFINITY }
  return periodAt(subscription.anchor, now)
}

export async function getUsage(ctx: Context, userId: string): Promise<Usage> {
  const [subscription, runs] = await ctx.db.batch([...usageQueries(ctx, userId)])
  return countUsage(subscription[0] ?? null, runs, ctx.now())
}

export function toSummary(usage: Usage): Summary {
  const { subscription, cycle } = usage
  return {
    monthlyUsage: {
      hoursUsed: usage.seconds / 3600,
      serverSessions: usage.sessions,
      runningServers: usage.running,
      amountOwedDollars:
        subscription?.subType === 'demo' ? 0 : unitsToDollars(overageUnits(usage.seconds, subscription?.hours ?? 0)),
    },
    subscription: subscription && {
      plan_type: subscription.planType,
      status: subscription.status,
      current_period_start: toIso(cycle.start),
      current_period_end: Number.isFinite(cycle.end) ? toIso(cycle.end) : null,
      hours: subscription.hours,
      sub_type: subscription.subType,
      cancel_at_period_end: subscription.cancelAtPeriodEnd,
    },
  }
}
