import { toIso } from '../../../domain/instant.ts'
import { openInvoices, owed, unpaidDollars } from '../../../domain/money/bill.ts'
import type { BillingView } from '../../../domain/views.ts'
import type { Context } from '../../runtime/context.ts'
import { billsQuery, toBills } from './billing-history.ts'
import { planPaymentsQuery } from './plan-payments.ts'
import { chargingOf, customerQuery, hasPortal } from './portal.ts'
import { countUsage, toSummary, usageQueries } from './usage.ts'

export async function getBillingOverview(ctx: Context, userId: string): Promise<BillingView> {
  const [rows, payments, [account], history, runs] = await ctx.db.batch([
    billsQuery(ctx, userId),
    planPaymentsQuery(ctx, userId),
    customerQuery(ctx, userId),
    ...usageQueries(ctx, userId),
  ])
  const now = ctx.now()
  const all = toBills(rows, payments, now)
  const unpaid = owed(all)
  const usage = countUsage(history, runs, now)
  return {
    summary: toSummary(usage),
    budget: usage.budget,
    until: Number.isFinite(usage.cycle.end) ? toIso(usage.cycle.end) : null,
    unpaidDollars: unpaidDollars(unpaid),
    openInvoices: openInvoices(all),
    overdue: unpaid.some((bill) => bill.overdue),
    hasPortal: hasPortal(account),
    charging: chargingOf(account),
  }
}
