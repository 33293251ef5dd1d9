import * as v from 'valibot'
import { rule } from '../form.ts'
import { hoursToSeconds } from './billing.ts'
import type { Budget, Counted } from './budget.ts'
import { dollars, UNITS_PER_DOLLAR, UNITS_PER_SECOND } from './money.ts'

const MAX_DOLLARS = 1_000_000

/** `dollars` null: no budget. */
export const budgetForm = v.pipe(
  v.object({ dollars: v.nullable(v.union([v.number(), v.nan()])), stops: v.boolean() }),
  rule('dollars', ({ dollars: d }) => d === null || (Number.isInteger(d) && d >= 1), 'Use whole dollars, $1 or more.'),
  rule('dollars', ({ dollars: d }) => d === null || !(d > MAX_DOLLARS), `Use at most ${dollars(MAX_DOLLARS)}.`),
  v.transform((f): Budget | null => (f.dollars === null ? null : { cents: f.dollars * 100, stops: f.stops })),
)

/** After how many more seconds `isBudgetReached`, which rounds half a cent up; below 0 once it is. */
export function secondsToBudget({ cents }: Budget, { seconds, cycle }: Counted): number {
  if (cycle.trial) return Number.POSITIVE_INFINITY
  const charged = Math.ceil(((cents - 0.5) * UNITS_PER_DOLLAR) / 100 / UNITS_PER_SECOND)
  return hoursToSeconds(cycle.includedHours) + charged - seconds
}
