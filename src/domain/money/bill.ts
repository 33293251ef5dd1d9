import { BYTE_ORDER_MARK } from '../csv.ts'
import type { BillingRecord, BillKind } from '../wire/billing.ts'
import { dollars } from './money.ts'

/** A bill as its owner sees it: the API's fields, its invoice as page and PDF, and what it corrects. */
export type Bill = BillingRecord & {
  invoice_url: string | null
  invoice_pdf: string | null
  /** Left to pay after credits. */
  dollars_due: number
  /** When we charge their card for it, as we announced. */
  charge_date?: string
  /** A bank debit is on its way. */
  processing?: boolean
  /** An operator holds its invoice: nothing is due until they release it. */
  held?: boolean
  /** The bill that this one corrects, and why. Its amount and seconds are the difference; below 0 it is a credit. */
  corrects: string | null
  reason: string | null
  /** The run whose seconds a credit is for, if it's for one. */
  run_id?: string
  /** Left unpaid by an account with the same mailbox, which is closed: it has no statement here. */
  of_closed_account?: boolean
}

/** The names on an invoice, as its page shows them. */
export type BillTo = { name: string | null; address: string[]; taxIds: string[] }

/** One run's part of a bill. Times are ISO 8601. Their dollars are exact, and the bill rounds their sum once. */
type StatementLine = {
  session_id: string
  name: string | null
  instance_type: string
  /** What it simulated: `Mountains, UGV`. */
  world: string | null
  start: string
  end: string
  seconds: number
  /** Seconds that cost nothing: the plan's hours, or the trial. */
  included: number
  dollars: number
}

export type Statement = Bill & {
  /** Null until Stripe has finalized its invoice. */
  bill_to: BillTo | null
  included_hours: number
  trial: boolean
  charged_seconds: number
  lines: StatementLine[]
  corrections: Bill[]
}

/** What happened to a paid bill's payment afterward; null if it stayed. */
export function givenBack({ amount_refunded, dispute }: Pick<Bill, 'amount_refunded' | 'dispute'>): string | null {
  const states = { open: 'Disputed', won: null, lost: 'Taken back by the bank' }
  const parts = [amount_refunded ? `Refunded ${dollars(amount_refunded)}` : null, dispute ? states[dispute] : null]
  return parts.filter(Boolean).join('. ') || null
}

/** What is unpaid and payable now, oldest first. */
export function openInvoices(newestFirst: Bill[]): Bill[] {
  return owed(newestFirst)
    .filter((bill) => !bill.processing && bill.invoice_url)
    .reverse()
}

/** What is unpaid, except for a plan that another one replaced: nobody should pay two plans for the same days. */
export function owed<T extends BillingRecord>(bills: T[]): T[] {
  const paidPlans = bills.filter(({ kind, paid }) => kind === 'plan' && paid)
  return bills.filter(
    ({ kind, paid, start_date, end_date }) =>
      !paid &&
      !(kind === 'plan' && paidPlans.some((other) => other.start_date >= start_date && other.start_date < end_date)),
  )
}

/** The cents left to pay on these. */
export function unpaidDollars(bills: Bill[]): number {
  return bills.reduce((cents, bill) => cents + Math.round(bill.dollars_due * 100), 0) / 100
}

/** A bill is filed under the month of its first day. */
export function billMonth(bill: Pick<BillingRecord, 'start_date'>): string {
  return bill.start_date.slice(0, 7)
}

/** Every month that has a bill, newest first. */
export function billMonths(bills: BillingRecord[]): string[] {
  return [...new Set(bills.map(billMonth))].sort().reverse()
}

/** Adds up whole cents, so that a long total stays exact. */
export function totalDollars(bills: Pick<BillingRecord, 'amount_owed'>[]): number {
  return bills.reduce((cents, bill) => cents + Math.round(bill.amount_owed * 100), 0) / 100
}

const KINDS: Record<BillKind, string> = { usage: 'Usage', plan: 'Plan', correction: 'Correction' }

const COLUMNS: Record<string, (bill: BillingRecord) => string> = {
  'Start Date': (bill) => bill.start_date,
  'End Date': (bill) => bill.end_date,
  'Amount Owed': (bill) => bill.amount_owed.toFixed(2),
  'Seconds Used': (bill) => String(bill.seconds_used),
  Paid: (bill) => String(bill.paid),
  Overdue: (bill) => String(bill.overdue),
  'Transaction ID': (bill) => bill.transaction_id ?? '',
  Kind: (bill) => KINDS[bill.kind],
  Plan: (bill) => bill.plan,
  'Due Date': (bill) => bill.due_date ?? '',
  'Invoice Number': (bill) => bill.invoice_number ?? '',
  'Amount Refunded': (bill) => bill.amount_refunded.toFixed(2),
  Dispute: (bill) => bill.dispute ?? '',
}

/** RFC 4180 with a byte-order mark, one line per bill, amounts with two decimals. No cell needs quotes. */
export function billsToCsv(bills: BillingRecord[]): string {
  const lines = bills.map((bill) => Object.values(COLUMNS).map((cellOf) => cellOf(bill)))
  return BYTE_ORDER_MARK + [Object.keys(COLUMNS), ...lines].map((line) => `${line.join(',')}\r\n`).join('')
}
