import { instantText, MINUTE_MS } from '../instant.ts'
import type { Summary } from '../wire/billing.ts'
import type { Server } from '../wire/fleet.ts'
import { hoursToSeconds, overageUnits, recordCents, runSeconds, trialMinutesLeft } from './billing.ts'
import type { Free } from './money.ts'

/**
 * The summary as of `now`, with what has run since it was counted. Exact unless a cycle ends in between; the page reads
 * the summary again every 30 s.
 * @param now ms since 1970, by the server's clock
 */
export function usageAt(summary: Summary, servers: Server[], now: number): Summary {
  const { monthlyUsage, subscription } = summary
  const countedAt = Date.parse(summary.as_of)
  const ranMeanwhile = servers.reduce(
    (sum, run) => sum + billedSecondsAt(run, now) - billedSecondsAt(run, countedAt),
    0,
  )
  if (!ranMeanwhile) return summary
  const seconds = Math.max(0, secondsUsed(summary) + ranMeanwhile)
  const cycle = { includedHours: subscription?.hours ?? 0, trial: subscription?.sub_type === 'demo' }
  return {
    ...summary,
    monthlyUsage: {
      ...monthlyUsage,
      hoursUsed: seconds / 3600,
      amountOwedDollars: recordCents(seconds, cycle) / 100,
    },
  }
}

export type RunCost = {
  /** Billed seconds so far. */
  seconds: number
  /** What they add to the bill, in units of 1e-7 USD: only the part beyond the plan's hours. */
  units: number
  /** Why that is below the list price. */
  free: Free | null
  /** What `units` count from: `so far`, or `since Dec 28, 2026` when earlier cycles are billed already. */
  since: string
}

/**
 * What a running server has cost so far. If it started before the current cycle, dollars count from the cycle's start.
 * @param summary as of `now`: see `usageAt`
 */
export function runCost(run: Server, summary: Summary, now: number): RunCost {
  const seconds = billedSecondsAt(run, now)
  const { subscription } = summary
  if (subscription?.sub_type === 'demo') return { seconds, units: 0, free: 'trial', since: 'so far' }
  const used = secondsUsed(summary)
  const hours = subscription?.hours ?? 0
  const units = overageUnits(used, hours) - overageUnits(Math.max(0, used - seconds), hours)
  const cycle = subscription?.current_period_start ?? null
  const isOlder = run.billed_from !== null && cycle !== null && Date.parse(run.billed_from) < Date.parse(cycle)
  return {
    seconds,
    units,
    free: used < hoursToSeconds(hours) ? 'plan' : null,
    since: isOlder ? `since ${instantText(cycle, false, 'day')}` : 'so far',
  }
}

/**
 * When a trial's free minutes are used up if its server runs on; null outside a trial.
 * @param summary as of `now`: see `usageAt`
 */
export function trialEnd({ subscription, monthlyUsage }: Summary, now: number): number | null {
  return subscription?.sub_type === 'demo' ? now + trialMinutesLeft(monthlyUsage.hoursUsed) * MINUTE_MS : null
}

function secondsUsed({ monthlyUsage }: Summary): number {
  return Math.round(monthlyUsage.hoursUsed * 3600)
}

/** A run's billed seconds up to `at`. */
export function billedSecondsAt({ billed_from, end_time }: Server, at: number): number {
  if (!billed_from) return 0
  return runSeconds(Date.parse(billed_from), end_time ? Math.min(at, Date.parse(end_time)) : at)
}
