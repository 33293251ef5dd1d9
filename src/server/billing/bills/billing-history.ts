import { and, desc, eq, gt, inArray, isNotNull, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import { type BillRow, bills, type InvoiceRow, invoices, type PlanPaymentRow } from '../../../../db/schema/billing.ts'
import { runs } from '../../../../db/schema/fleet.ts'
import { DAY_MS, toDay, toIso } from '../../../domain/instant.ts'
import { type Bill, openInvoices, type Statement, unpaidDollars } from '../../../domain/money/bill.ts'
import { chargedSeconds, meterEnd } from '../../../domain/money/billing.ts'
import { isPaid } from '../../../domain/money/invoice.ts'
import { UNITS_PER_DOLLAR } from '../../../domain/money/money.ts'
import { planName } from '../../../domain/money/plan.ts'
import { shareCycle } from '../../../domain/money/run-cost.ts'
import type { BillingRecord } from '../../../domain/wire/billing.ts'
import { worldText } from '../../../domain/worlds.ts'
import type { Context } from '../../runtime/context.ts'
import { closedAccountsOf, IS_UNPAID } from './debts.ts'
import { type MeteredRun, meteredColumns } from './metered-run.ts'
import { planPaymentsQuery, reversalOf, toPlanBill } from './plan-payments.ts'
import { chargingOf, customerQuery, hasPortal } from './portal.ts'
import { isOverdue } from './suspension.ts'

type Row = { record: BillRow; invoice: InvoiceRow | null; isDebt?: number; overdue: number | null }

const CHART_MS = 31 * DAY_MS

/** Every closed cycle and every payment of a plan, newest first. */
export async function listBills(ctx: Context, userId: string): Promise<Bill[]> {
  const [rows, payments] = await ctx.db.batch([billsQuery(ctx, userId), planPaymentsQuery(ctx, userId)])
  return toBills(rows, payments, ctx.now())
}

/** Newest first. A plan's payment precedes the usage of the month it starts, so it's listed below it. */
export function toBills(rows: Row[], payments: PlanPaymentRow[], now: number): Bill[] {
  const found = [
    ...rows.map((row) => ({ at: row.record.periodStart, bill: toBill(row) })),
    ...payments.map((row) => ({ at: row.periodStart, bill: toPlanBill(row, now) })),
  ]
  return found.sort((a, b) => b.at - a.at).map(({ bill }) => bill)
}

/** Includes unpaid bills from accounts they've closed. */
export function billsQuery(ctx: Context, userId: string | SQL, which?: SQL) {
  const isDebt = sql<number>`${bills.userId} <> ${userId}`
  return ctx.db
    .select({ record: bills, invoice: invoices, isDebt, overdue: overdue(ctx) })
    .from(bills)
    .leftJoin(invoices, eq(invoices.billId, bills.id))
    .where(
      and(
        sql`${bills.userId} IN (SELECT ${userId} UNION ALL ${closedAccountsOf(userId)})`,
        sql`(NOT ${isDebt} OR (${IS_UNPAID}))`,
        which,
      ),
    )
    .orderBy(desc(bills.periodStart), desc(bills.createdAt), desc(sql`${bills.corrects} IS NOT NULL`))
}

const overdue = (ctx: Context) => sql<number | null>`${isOverdue(ctx.now())}`

/** The reads for `toUnpaidDollars`. */
export function openInvoiceQueries(ctx: Context, userId: string | SQL) {
  const open = inArray(invoices.status, ['open', 'uncollectible'])
  return [billsQuery(ctx, userId, open), planPaymentsQuery(ctx, userId)] as const
}

/** What is unpaid and payable now. */
export function toUnpaidDollars(rows: Row[], payments: PlanPaymentRow[], now: number): number {
  return unpaidDollars(openInvoices(toBills(rows, payments, now)))
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
    charging: chargingOf(account),
    runs: runRows.map(({ start, end }) => ({ start: start ?? now, end: end ?? now })),
  }
}

/** One bill with all its runs, whose seconds add up to the bill's. Null if the bill is another user's. */
export async function findStatement(ctx: Context, userId: string, billId: string): Promise<Statement | null> {
  const mine = sql`${bills.id} = ${billId} AND ${bills.userId} = ${userId}`
  const [[row], runRows, corrections] = await ctx.db.batch([
    ctx.db
      .select({ record: bills, invoice: invoices, overdue: overdue(ctx) })
      .from(bills)
      .leftJoin(invoices, eq(invoices.billId, bills.id))
      .where(mine),
    ctx.db
      .select({
        run: meteredColumns,
        name: runs.name,
        instanceType: runs.instanceType,
        environment: runs.environment,
        vehicle: runs.vehicle,
      })
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
  const lines = shareCycle(
    { ...period, ...record },
    runRows.map((row) => ({ ...spanOf(row.run, Infinity), row })),
  ).map(({ run: { row }, start, end, seconds, included, units }) => ({
    session_id: row.run.id,
    name: row.name,
    instance_type: row.instanceType,
    world: worldText(row),
    start: toIso(start),
    end: toIso(end),
    seconds,
    included,
    dollars: units / UNITS_PER_DOLLAR,
  }))
  return {
    ...toBill(row),
    bill_to: row.invoice?.billTo ?? null,
    included_hours: record.includedHours,
    trial: record.trial,
    charged_seconds: record.trial ? 0 : chargedSeconds(record.seconds, record.includedHours),
    // A correction has no runs: they are in the bill it corrects.
    lines: record.corrects ? [] : lines,
    corrections: corrections.map((correction) => toBill(correction)),
  }
}

/** A run's time on the meter, as of `at` while it runs. */
export function spanOf(row: MeteredRun, at: number): { row: MeteredRun; start: number; end: number } {
  return { row, start: row.billedFrom ?? at, end: meterEnd(row, at) }
}

/** A bill as the API shows it. */
export function toBillingRecord(bill: Bill): BillingRecord {
  const { id, kind, start_date, end_date, amount_owed, seconds_used, paid, overdue } = bill
  const { transaction_id, plan, due_date, invoice_number, amount_refunded, dispute } = bill
  const money = { amount_owed, seconds_used, paid, overdue }
  const names = { transaction_id, plan, due_date, invoice_number }
  return { id, kind, start_date, end_date, ...money, ...names, amount_refunded, dispute }
}

function willBeCharged({ step, chargeAt, heldAt }: InvoiceRow): boolean {
  return chargeAt !== null && heldAt === null && (step === 'finalize' || step === 'resume')
}

function toBill({ record, invoice, isDebt, overdue }: Row): Bill {
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
    overdue: Boolean(overdue),
    transaction_id: invoice?.stripeInvoiceId ?? null,
    plan: record.planType ? planName(record.planType) : 'No plan',
    invoice_url: invoice?.hostedUrl ?? null,
    invoice_pdf: invoice?.pdfUrl ?? null,
    due_date: invoice?.dueAt ? toDay(invoice.dueAt) : null,
    invoice_number: invoice?.number ?? null,
    dollars_due: isPaid(bill) ? 0 : (invoice?.remainingCents ?? record.amountCents) / 100,
    corrects: record.corrects,
    reason: record.reason,
    ...(invoice && willBeCharged(invoice) ? { charge_date: toDay(invoice.chargeAt ?? 0) } : {}),
    ...(invoice?.processingAt != null && !isPaid(bill) ? { processing: true } : {}),
    ...(invoice?.heldAt != null && !isPaid(bill) ? { held: true } : {}),
    ...reversalOf(invoice),
    ...(record.runId === null ? {} : { run_id: record.runId }),
    ...(isDebt ? { of_closed_account: true } : {}),
  }
}
