import { and, desc, eq, gt, inArray, isNotNull, isNull, lt, ne, or, type SQL, sql } from 'drizzle-orm'
import {
  type BillRow,
  bills,
  type InvoiceRow,
  invoices,
  type PlanPaymentRow,
  planPayments,
  runs,
} from '../../../../db/schema.ts'
import { DAY_MS, toDay, toIso } from '../../../domain/instant.ts'
import { type Bill, openInvoices, type Statement } from '../../../domain/money/bill.ts'
import { chargedSeconds, runSecondsWithin, shareBill } from '../../../domain/money/billing.ts'
import { isOverdue, isPaid } from '../../../domain/money/invoice.ts'
import { planName } from '../../../domain/money/plan.ts'
import type { BillingRecord } from '../../../domain/wire.ts'
import type { Context } from '../../context.ts'
import { planPaymentsQuery, toPlanBill } from './plan-payments.ts'
import { customerQuery, hasPortal } from './portal.ts'

type Row = { record: BillRow; invoice: InvoiceRow | null }

const CHART_MS = 31 * DAY_MS

/** Every closed cycle and every payment of a plan, newest first. */
export async function listBills(ctx: Context, userId: string): Promise<Bill[]> {
  const [rows, payments] = await ctx.db.batch([billsQuery(ctx, userId), planPaymentsQuery(ctx, userId)])
  return toBills(rows, payments, ctx.now())
}

/** Newest first. A plan's payment precedes the usage of the month it starts, so it's listed below it. */
export function toBills(rows: Row[], payments: PlanPaymentRow[], now: number): Bill[] {
  const found = [
    ...rows.map((row) => ({ at: row.record.periodStart, bill: toBill(row, now) })),
    ...payments.map((row) => ({ at: row.periodStart, bill: toPlanBill(row, now) })),
  ]
  return found.sort((a, b) => b.at - a.at).map(({ bill }) => bill)
}

export function billsQuery(ctx: Context, userId: string | SQL, which?: SQL) {
  return ctx.db
    .select({ record: bills, invoice: invoices })
    .from(bills)
    .leftJoin(invoices, eq(invoices.billId, bills.id))
    .where(and(eq(bills.userId, userId), which))
    .orderBy(desc(bills.periodStart), desc(bills.createdAt))
}

/** The reads for `toOpenInvoices`. */
export function openInvoiceQueries(ctx: Context, userId: string | SQL) {
  const open = inArray(invoices.status, ['open', 'uncollectible'])
  return [billsQuery(ctx, userId, open), planPaymentsQuery(ctx, userId, ne(planPayments.status, 'paid'))] as const
}

/** What is unpaid and can be paid now, oldest first. */
export function toOpenInvoices(rows: Row[], payments: PlanPaymentRow[], now: number): Bill[] {
  return openInvoices(toBills(rows, payments, now))
}

/** The bills, the last month's runs for the chart, and whether Stripe knows them, in one round trip. */
export async function getBillingHistory(ctx: Context, userId: string) {
  const now = ctx.now()
  const [rows, payments, [account], runRows] = await ctx.db.batch([
    billsQuery(ctx, userId),
    planPaymentsQuery(ctx, userId),
    customerQuery(ctx, userId),
    ctx.db
      .select({ start: runs.billedFrom, end: runs.meteredUntil })
      .from(runs)
      .where(
        and(
          eq(runs.userId, userId),
          isNotNull(runs.billedFrom),
          or(isNull(runs.meteredUntil), gt(runs.meteredUntil, now - CHART_MS)),
        ),
      ),
  ])
  return {
    bills: toBills(rows, payments, now),
    hasPortal: hasPortal(account),
    runs: runRows.map(({ start, end }) => ({ start: start ?? now, end: end ?? now })),
  }
}

/** One bill with all its runs, whose seconds add up to the bill's. Null if the bill is another user's. */
export async function findStatement(ctx: Context, userId: string, billId: string): Promise<Statement | null> {
  const mine = sql`${bills.id} = ${billId} AND ${bills.userId} = ${userId}`
  const [[row], runRows, corrections] = await ctx.db.batch([
    ctx.db
      .select({ record: bills, invoice: invoices })
      .from(bills)
      .leftJoin(invoices, eq(invoices.billId, bills.id))
      .where(mine),
    ctx.db
      .select({ run: runs })
      .from(runs)
      .innerJoin(bills, mine)
      .where(
        and(
          eq(runs.userId, userId),
          lt(runs.billedFrom, bills.periodEnd),
          or(isNull(runs.meteredUntil), gt(runs.meteredUntil, bills.periodStart)),
        ),
      )
      .orderBy(runs.billedFrom),
    billsQuery(ctx, userId, eq(bills.corrects, billId)),
  ])
  if (!row) return null
  const { record } = row
  const period = { start: record.periodStart, end: record.periodEnd }
  const lines = runRows.map(({ run }) => {
    const start = Math.max(run.billedFrom ?? 0, period.start)
    const end = Math.min(run.meteredUntil ?? period.end, period.end)
    const seconds = runSecondsWithin(run.billedFrom ?? 0, run.meteredUntil ?? Infinity, period)
    return {
      session_id: run.id,
      instance_type: run.instanceType,
      start: toIso(start),
      end: toIso(end),
      seconds,
    }
  })
  const shares = shareBill(
    lines.map((line) => line.seconds),
    record,
  )
  return {
    ...toBill(row, ctx.now()),
    included_hours: record.includedHours,
    trial: record.trial,
    charged_seconds: record.trial ? 0 : chargedSeconds(record.seconds, record.includedHours),
    // A correction has no runs: they are in the bill it corrects.
    lines: record.corrects
      ? []
      : lines
          .map((line, i) => ({ ...line, included: shares[i]?.included ?? 0, dollars: (shares[i]?.cents ?? 0) / 100 }))
          .filter((line) => line.seconds > 0),
    corrections: corrections.map((correction) => toBill(correction, ctx.now())),
  }
}

/** A bill as the API shows it. */
export function toBillingRecord(bill: Bill): BillingRecord {
  const { id, kind, start_date, end_date, amount_owed, seconds_used, paid, overdue, transaction_id, plan, due_date } =
    bill
  return { id, kind, start_date, end_date, amount_owed, seconds_used, paid, overdue, transaction_id, plan, due_date }
}

function toBill({ record, invoice }: Row, now: number): Bill {
  const bill = { amountCents: record.amountCents, invoice }
  return {
    id: record.id,
    kind: record.corrects ? 'correction' : 'usage',
    start_date: toDay(record.periodStart),
    // The last day inside it: the period ends where the next one begins.
    end_date: toDay(record.periodEnd - 1),
    amount_owed: record.amountCents / 100,
    seconds_used: record.seconds,
    paid: isPaid(bill),
    overdue: isOverdue(bill, now),
    transaction_id: invoice?.stripeInvoiceId ?? null,
    plan: record.planType ? planName(record.planType) : 'No plan',
    invoice_url: invoice?.hostedUrl ?? null,
    invoice_pdf: invoice?.pdfUrl ?? null,
    due_date: invoice?.dueAt ? toDay(invoice.dueAt) : null,
    dollars_due: isPaid(bill) ? 0 : (invoice?.remainingCents ?? record.amountCents) / 100,
    corrects: record.corrects,
    reason: record.reason,
  }
}
