import { totalDollars } from '../../domain/bill.ts'
import type { Summary } from '../../domain/wire.ts'
import type { Context } from '../context.ts'
import { listBills } from './billing-history.ts'
import { getUsage, toSummary } from './usage.ts'

/** What the account page says about money. */
export type BillingOverview = {
  summary: Summary
  /** Closed and not paid. */
  unpaidDollars: number
  overdue: boolean
  /** The unpaid invoice that is due first. */
  payUrl: string | null
}

export async function getBillingOverview(ctx: Context, userId: string): Promise<BillingOverview> {
  const [usage, bills] = await Promise.all([getUsage(ctx, userId), listBills(ctx, userId)])
  const unpaid = bills.filter((bill) => !bill.paid)
  return {
    summary: toSummary(usage),
    unpaidDollars: totalDollars(unpaid),
    overdue: unpaid.some((bill) => bill.overdue),
    payUrl: unpaid.findLast((bill) => bill.invoice_url)?.invoice_url ?? null,
  }
}
