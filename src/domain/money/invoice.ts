/** Stripe's states of an invoice. Overdue is not one: an open invoice whose day has passed is. */
export type InvoiceStatus = 'draft' | 'open' | 'paid' | 'void' | 'uncollectible'

/** The calls that make and send an invoice, in their order; or the one that gives a credit. */
export type InvoiceStep = 'draft' | 'line' | 'finalize' | 'send' | 'sent' | 'credit' | 'credited'

/** Days from the suspension until what still runs is stopped, and how long before that its owner is warned. */
export const STOP_AFTER_DAYS = 3
export const STOP_WARNING_DAYS = 1

type Bill = { amountCents: number; invoice: { status: InvoiceStatus | null; dueAt: number | null } | null }

/** Nothing is owed: it came to 0 cents or to a credit, it was paid, or it was forgiven. */
export function isPaid({ amountCents, invoice }: Bill): boolean {
  return amountCents <= 0 || invoice?.status === 'paid' || invoice?.status === 'void'
}

export function isOverdue(bill: Bill, now: number): boolean {
  const dueAt = bill.invoice?.dueAt ?? null
  return !isPaid(bill) && dueAt !== null && dueAt <= now
}
