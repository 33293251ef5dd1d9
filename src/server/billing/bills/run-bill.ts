import { and, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { BatchResponse } from 'drizzle-orm/batch'
import type { BillRow } from '../../../../db/schema/billing.ts'
import { runs } from '../../../../db/schema/fleet.ts'
import { toDay, toIso } from '../../../domain/instant.ts'
import { shareBill } from '../../../domain/money/billing.ts'
import { type Cycle, cyclesSince } from '../../../domain/money/cycle.ts'
import { UNITS_PER_DOLLAR } from '../../../domain/money/money.ts'
import { type CostLine, type RunShare, shareCycle, sumOfLines } from '../../../domain/money/run-cost.ts'
import type { Context } from '../../runtime/context.ts'
import { billsQuery, spanOf } from './billing-history.ts'
import { type MeteredRun, meteredColumns } from './metered-run.ts'
import { openTime, planHistoryQuery } from './usage.ts'

/** The reads for `toCostLines`: the run's bills, every run that shares a cycle with it, and its owner's plans. */
export function costQueries(ctx: Context, userId: string | SQL, runId: string) {
  const run = (column: SQL) => sql`(SELECT ${column} FROM server_sessions WHERE id = ${runId})`
  const [from, until] = [run(sql`billed_from`), run(sql`metered_until`)]
  const theirs = sql`user_id = ${userId} AND corrects IS NULL`
  // Without a bill, it begins in the open cycle.
  const first = sql`coalesce((SELECT min(period_start) FROM billing_records WHERE ${theirs} AND period_end > ${from}),
    (SELECT coalesce(nullif(billed_until, 0), created_at) FROM users WHERE id = ${userId}))`
  const last = sql`coalesce((SELECT min(period_end) FROM billing_records WHERE ${theirs} AND period_end >= ${until}),
    ${ctx.now()})`
  return [
    billsQuery(ctx, userId, sql`period_end > ${from} AND period_start < coalesce(${until}, ${ctx.now()})`),
    ctx.db
      .select(meteredColumns)
      .from(runs)
      .where(
        and(
          sql`user_id = ${userId} AND coalesce(metered_until > ${first}, 1) AND billed_from <= ${last}`,
          isNotNull(runs.billedFrom),
        ),
      ),
    planHistoryQuery(ctx, userId),
  ] as const
}

/**
 * A run's part of each of its cycles, oldest first: as its bill says, or as the bill would say if it were closed now.
 * What EC2's record took off a written bill follows that bill.
 */
export function toCostLines(
  [billRows, runRows, history]: BatchResponse<ReturnType<typeof costQueries>>,
  run: MeteredRun,
  now: number,
): CostLine[] {
  if (run.billedFrom === null) return []
  const records = billRows.map(({ record }) => record).toReversed()
  const billed = records
    .filter(({ corrects }) => corrects === null)
    .flatMap((record) => {
      const cycle = { ...record, start: record.periodStart, end: record.periodEnd }
      const share = shareOf(run, cycle, runRows, Infinity)
      if (!share) return []
      const line = toLine(share, { bill: named(record), trial: record.trial, dollars: share.units / UNITS_PER_DOLLAR })
      return [line, ...creditsOf(run, line, record, records)]
    })
  const open = openCycles(history, now).flatMap((cycle) => {
    const share = shareOf(run, cycle, runRows, now)
    return share ? [toLine(share, { bill: null, trial: cycle.trial, dollars: share.units / UNITS_PER_DOLLAR })] : []
  })
  return [...billed, ...open]
}

/**
 * What an ended run, which may not be stored yet, added to its months' bills, in units of 1e-7 USD: nothing in a trial,
 * and only what the plan's hours don't cover. A later change to the month changes it: see `recountQueries` of closing.
 */
export async function getRunCost(ctx: Context, run: MeteredRun): Promise<number> {
  if (run.billedFrom === null || run.meteredUntil === null) return 0
  const [written, rows, history] = await ctx.db.batch([...costQueries(ctx, run.userId, run.id)])
  const asEnded = rows.map((row) => (row.id === run.id ? run : row))
  const { dollars } = sumOfLines(toCostLines([written, asEnded, history], run, ctx.now()))
  return Math.round(dollars * UNITS_PER_DOLLAR)
}

/** @param records oldest first */
function creditsOf(run: MeteredRun, { start, end }: CostLine, bill: BillRow, records: BillRow[]): CostLine[] {
  const inOrder = [bill, ...records.filter(({ corrects }) => corrects === bill.id)]
  const shares = shareBill(
    inOrder.map(({ seconds }) => seconds),
    bill,
  )
  return inOrder.flatMap(({ id, runId, seconds, amountCents, trial }, i) => {
    if (runId !== run.id) return []
    const included = shares[i] ?? 0
    return [
      {
        bill: { ...named(bill), id },
        correction: true,
        trial,
        start,
        end,
        seconds,
        included,
        dollars: amountCents / 100,
      },
    ]
  })
}

function shareOf(run: MeteredRun, cycle: Parameters<typeof shareCycle>[0], runRows: MeteredRun[], at: number) {
  const spans = runRows.map((row) => spanOf(row, at))
  return shareCycle(cycle, spans).find((share) => share.run.row.id === run.id)
}

/** The cycles that have no bill yet. */
function openCycles(history: Parameters<typeof openTime>[0], now: number): Cycle[] {
  const { from, spans } = openTime(history)
  return cyclesSince(spans, from, now)
}

function named({ id, periodStart, periodEnd }: BillRow): CostLine['bill'] & object {
  return { id, start_date: toDay(periodStart), end_date: toDay(periodEnd - 1) }
}

function toLine(
  { start, end, seconds, included }: RunShare,
  of: Pick<CostLine, 'bill' | 'trial' | 'dollars'>,
): CostLine {
  return { ...of, correction: false, start: toIso(start), end: toIso(end), seconds, included }
}
