import { DAY_MS } from '../instant.ts'
import type { BillingRecord } from '../wire/billing.ts'
import { PAYMENT_DAYS } from './plan.ts'

/** Stripe's states of an invoice. Overdue is not one of them: it is an open invoice past its due date. */
export type InvoiceStatus = 'draft' | 'open' | 'paid' | 'void' | 'uncollectible'

export type DisputeState = NonNullable<BillingRecord['dispute']>

/** The calls that make and send an invoice, in order, or ask again whether to charge it; or the one that issues a credit. */
export type InvoiceStep = 'draft' | 'line' | 'finalize' | 'send' | 'resume' | 'sent' | 'credit' | 'credited'

/** Days from suspension until we stop what still runs, and how many days before that we warn the owner. */
export const STOP_AFTER_DAYS = 3
export const STOP_WARNING_DAYS = 1

export const STOPPED_OVERDUE = 'We stopped your server because an invoice is overdue.'

/** When a bill's invoice falls due, however it is collected: Stripe knows no due date of one that charges a card. */
export function invoiceDueAt(finalizedAt: number): number {
  return finalizedAt + PAYMENT_DAYS * DAY_MS
}

/** When we remind the owner: 3 days before it falls due. */
export function dueSoonAt(dueAt: number): number {
  return dueAt - 3 * DAY_MS
}

/** The least time to pay another way for someone whose bank debit fails late. */
export const AFTER_DEBIT_MS = 3 * DAY_MS

type Bill = {
  amountCents: number
  invoice: { status: InvoiceStatus | null } | null
}

/** Nothing is owed: the bill came to 0 cents or a credit, was paid, or was forgiven. */
export function isPaid({ amountCents, invoice }: Bill): boolean {
  return amountCents <= 0 || invoice?.status === 'paid' || invoice?.status === 'void'
}
