import type { InvoiceStatus } from '../../domain/money/invoice.ts'
import type { PlanType } from '../../domain/money/plan.ts'

/** A subscription as the payment provider has it now. Times are ms since 1970. */
export type PaidSubscription = {
  id: string
  customerId: string
  /** Whose it is, as we wrote at its checkout. */
  userId: string | null
  /** Null for a price that is not one of ours. */
  planType: PlanType | null
  /** The plan that we wrote on it at its checkout. */
  boughtAs: PlanType | null
  status: string
  createdAt: number
  anchor: number
  /** Of the current period, paid or not. */
  periodStart: number
  cancelAtPeriodEnd: boolean
  /** When it will end, once that is decided. */
  cancelAt: number | null
  endedAt: number | null
}

export type Checkout = {
  id: string
  status: 'open' | 'complete' | 'expired'
  /** Where a person pays; null once it is no longer open. */
  url: string | null
  subscriptionId: string | null
}

export type Invoice = {
  id: string
  /** The billing record that it bills; null for an invoice of the plan's own price. */
  billId: string | null
  status: InvoiceStatus
  totalCents: number
  /** Left to pay, once credits are taken off. */
  remainingCents: number
  dueAt: number | null
  paidAt: number | null
  hostedUrl: string | null
  pdfUrl: string | null
}

/** What happened to which object; its effect is taken from the object fetched by id, never from the event. */
export type PaymentEvent = {
  id: string
  type: string
  about: 'subscription' | 'checkout' | 'invoice' | 'other'
  objectId: string
}

/**
 * Where money is collected. Verbs that make something take an idempotency key: the same key makes it once, for at least a day.
 * Every call may throw an `AppError`: 'unavailable' (retryable) when the outcome is not known, 'provider_failed' when it was refused.
 */
export type Payments = {
  findCustomer(user: { id: string; email: string }): Promise<string | null>
  createCustomer(user: { id: string; email: string }, key: string): Promise<string>

  createCheckout(
    checkout: { customerId: string; userId: string; planType: PlanType; successUrl: string; cancelUrl: string },
    key: string,
  ): Promise<Checkout>
  getCheckout(id: string): Promise<Checkout>
  /** 'provider_failed' when it is no longer open. */
  expireCheckout(id: string): Promise<Checkout>

  findSubscription(id: string): Promise<PaidSubscription | null>
  /** The page where its latest open invoice is paid, which makes it active again; null when none is open. */
  findPlanPayPage(subscriptionId: string): Promise<string | null>
  /** Whether an invoice of it was paid in that time: half-open, ms since 1970. */
  wasPaidWithin(subscriptionId: string, time: { start: number; end: number }): Promise<boolean>
  cancelAtPeriodEnd(id: string, key: string): Promise<PaidSubscription>
  cancelNow(id: string): Promise<void>

  /** The invoice of a billing record, by what we wrote on it. */
  findInvoiceOf(customerId: string, billId: string): Promise<Invoice | null>
  findInvoice(id: string): Promise<Invoice | null>
  /** An empty draft, due so many days after it is finalized. */
  createInvoice(
    invoice: { customerId: string; billId: string; description: string; dueDays: number },
    key: string,
  ): Promise<Invoice>
  addInvoiceLine(
    line: { customerId: string; invoiceId: string; cents: number; description: string },
    key: string,
  ): Promise<void>
  finalizeInvoice(id: string, key: string): Promise<Invoice>
  sendInvoice(id: string, key: string): Promise<Invoice>

  /** The credit that belongs to a correcting record, by what we wrote on it. */
  findCredit(invoiceId: string, billId: string): Promise<string | null>
  /** Takes `cents` off an open invoice; of a paid one they are kept for the customer's next ones. `paid` says which it is. */
  creditInvoice(
    credit: { invoiceId: string; billId: string; cents: number; paid: boolean; description: string },
    key: string,
  ): Promise<string>

  /** @param receivedAt ms since 1970. Throws 'malformed' unless the signature is the provider's and at most five minutes old. */
  readEvent(payload: string, signature: string, receivedAt: number): Promise<PaymentEvent>
}
