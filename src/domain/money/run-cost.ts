import { type Period, partWithin, shareBill } from './billing.ts'
import { type Free, UNITS_PER_DOLLAR, UNITS_PER_SECOND } from './money.ts'

/** The metered time of one run, in ms since 1970. It's still running if `end` lies after its cycle. */
type MeteredTime = { start: number; end: number }

export type RunShare = {
  /** Its part of the cycle, in whole seconds: `seconds` is their difference. */
  start: number
  end: number
  seconds: number
  /** Seconds that cost nothing: the plan's hours, or the trial. */
  included: number
  /** The exact cost of the other seconds. Their bill rounds the sum, once. */
  units: number
}

/** Splits a cycle among its runs, oldest first. Those that had no second in it get none. */
export function shareCycle<Run extends MeteredTime>(
  cycle: Period & { includedHours: number; trial: boolean },
  runs: Run[],
): (RunShare & { run: Run })[] {
  const oldestFirst = runs.toSorted((a, b) => a.start - b.start)
  const parts = oldestFirst.map((run) => ({ run, ...partWithin(run.start, run.end, cycle) }))
  const shares = shareBill(
    parts.map(({ start, end }) => (end - start) / 1000),
    cycle,
  )
  return parts.flatMap(({ run, start, end }, i) => {
    const [used, included] = [(end - start) / 1000, shares[i] ?? 0]
    if (used === 0) return []
    return {
      run,
      start,
      end,
      seconds: used,
      included,
      units: (used - included) * UNITS_PER_SECOND,
    }
  })
}

/** A run's part of one cycle, or what was taken off a written bill. Times are ISO 8601. */
export type CostLine = {
  /** Null while its bill isn't written. Its days are in UTC. */
  bill: { id: string; start_date: string; end_date: string } | null
  correction: boolean
  start: string
  end: string
  seconds: number
  included: number
  dollars: number
  trial: boolean
}

/** Why nobody pays for any of it; null if someone does, or nothing was metered. A plan may follow a trial. */
export function freeBecause(lines: CostLine[]): Free | null {
  const { included_seconds, billed_seconds } = sumOfLines(lines)
  if (billed_seconds || !included_seconds) return null
  return lines.every(({ trial, correction }) => trial || correction) ? 'trial' : 'plan'
}

/** What a run cost so far, in all its cycles, exactly. */
export type RunCostSum = { seconds: number; included_seconds: number; billed_seconds: number; dollars: number }

export function sumOfLines(lines: CostLine[]): RunCostSum {
  const sum = (of: (line: CostLine) => number) => lines.reduce((total, line) => total + of(line), 0)
  const seconds = sum((line) => line.seconds)
  const included = sum((line) => line.included)
  const units = sum((line) => Math.round(line.dollars * UNITS_PER_DOLLAR))
  return {
    seconds,
    included_seconds: included,
    billed_seconds: seconds - included,
    dollars: units / UNITS_PER_DOLLAR,
  }
}
