import type { Summary } from '../../../domain/wire.ts'
import type { Context } from '../../context.ts'
import { billsQuery, toBill } from './billing-history.ts'
import { countUsage, toSummary, usageQueries } from './usage.ts'

/** What the account page shows about money. */
export type BillingOverview = {
  summary: Summary
  /** The unpaid total of closed bills. */
  unpaidDollars: number
  overdue: boolean
  /** The page to pay the invoice that is due first. */
  payUrl: string | null
}

export async function getBillingOverview(ctx: Context, userId: string): Promise<BillingOverview> {
  const [rows, history, runs] = await ctx.db.batch([billsQuery(ctx, userId), ...usageQueries(ctx, userId)])
  const now = ctx.now()
  const unpaid = rows.map((row) => toBill(row, now)).filter((bill) => !bill.paid)
  return {
    summary: toSummary(countUsage(history, runs, now)),
    unpaidDollars: unpaid.reduce((cents, bill) => cents + Math.round(bill.dollars_due * 100), 0) / 100,
    overdue: unpaid.some((bill) => bill.overdue),
    payUrl: unpaid.findLast((bill) => bill.invoice_url)?.invoice_url ?? null,
  }
}
