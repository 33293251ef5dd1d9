import type { BillingRecord } from '../wire.ts'

/** A bill as its owner sees it: the wire's fields, its plan, its invoice as page and PDF, and what it corrects. */
export type Bill = BillingRecord & {
  plan: string
  invoice_url: string | null
  invoice_pdf: string | null
  due_date: string | null
  /** Left to pay after credits. */
  dollars_due: number
  /** The bill that this one corrects, and why. Its amount and seconds are the difference; below 0 it is a credit. */
  corrects: string | null
  reason: string | null
}

/** One run's part of a bill. Times are ISO 8601; `dollars` is the price before included hours. */
type StatementLine = {
  session_id: string
  instance_type: string
  start: string
  end: string
  seconds: number
  dollars: number
}

export type Statement = Bill & {
  included_hours: number
  trial: boolean
  charged_seconds: number
  lines: StatementLine[]
  corrections: Bill[]
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

const COLUMNS = ['start_date', 'end_date', 'amount_owed', 'seconds_used', 'paid', 'overdue', 'transaction_id'] as const

/** RFC 4180, one line per bill, amounts with two decimals. */
export function billsToCsv(bills: BillingRecord[]): string {
  const lines = bills.map((bill) =>
    COLUMNS.map((column) => (column === 'amount_owed' ? bill.amount_owed.toFixed(2) : String(bill[column] ?? ''))),
  )
  return [['Start Date', 'End Date', 'Amount Owed', 'Seconds Used', 'Paid', 'Overdue', 'Transaction ID'], ...lines]
    .map((line) => `${line.join(',')}\r\n`)
    .join('')
}
