import { AppError } from '../../domain/error.ts'
import type { BillTo } from '../../domain/money/bill.ts'
import type { DisputeState, InvoiceStatus } from '../../domain/money/invoice.ts'
import type { PlanType } from '../../domain/money/plan.ts'

/** A subscription as the payment provider has it. Times are ms since 1970. */
export type PaidSubscription = {
  id: string
  customerId: string
  /** Its user, as we wrote at checkout. */
  userId: string | null
  /** Null for a price that is not one of ours. */
  planType: PlanType | null
  /** The plan that we wrote on it at checkout. */
  boughtAs: PlanType | null
  status: string
  anchor: number
  /** The current period's, paid or not. */
  periodStart: number
  periodEnd: number
  /** When it was last upgraded, and from which plan. Null also once it has that plan again. */
  upgradedAt: number | null
  upgradedFrom: PlanType | null
  /** Set while an upgrade waits for its payment: when it lapses. */
  upgradeUntil: number | null
  /** Set while a change is scheduled for the next period, and for a while afterward. */
  scheduleId: string | null
  /** The plan from the next period on. */
  nextPlanType: PlanType | null
  cancelAtPeriodEnd: boolean
  /** When it will end, if that's scheduled. */
  cancelAt: number | null
  endedAt: number | null
}

export type Upgrade = {
  from: PlanType
  to: PlanType
  /** In ms since 1970, in the current period. */
  at: number
}

export type Checkout = {
  id: string
  status: 'open' | 'complete' | 'expired'
  /** Where a person pays; null unless open. */
  url: string | null
  customerId: string | null
  subscriptionId: string | null
  /** Whether they let us charge usage to the card that they entered; null if they didn't say. */
  chargesUsage: boolean | null
}

/** The name that we use for it in front of its owner. */
export type PayMethod = 'card' | 'bank account' | 'payment method'

export type Invoice = {
  id: string
  /** The billing record that it charges; null for an invoice of the plan's own price. */
  billId: string | null
  customerId: string
  status: InvoiceStatus
  totalCents: number
  /** By credit notes, whether or not it was paid first. */
  creditedCents: number
  /** Left to pay after credits. */
  remainingCents: number
  paidCents: number
  /** Stripe's own; null if it charges a card. A bill's is ours: `invoiceDueAt`. */
  dueAt: number | null
  finalizedAt: number | null
  paidAt: number | null
  hostedUrl: string | null
  pdfUrl: string | null
  /** On its page and its PDF; null for a draft. */
  number: string | null
  /** The customer on it. It changes with the customer until it's finalized. */
  billTo: BillTo
  /** Charged to the customer's default payment method; otherwise they get a link to pay it. */
  charges: boolean
  /** Whether Stripe charges it automatically, and retries. */
  advances: boolean
  /** A payment is on its way: a bank debit takes days. Only `findInvoice` knows. */
  processing: boolean
  /** Why the last charge, `id`, failed; `asks`: the bank wants the customer to confirm it. Only `findInvoice` knows. */
  failure: { id: string | null; why: string; asks: boolean; method: PayMethod } | null
  /** Set on an invoice of the plan's own price. */
  plan: PlanCharge | null
}

/** What an invoice of a plan's own price charges. Times are ms since 1970. */
export type PlanCharge = {
  subscriptionId: string
  customerId: string
  /** Their user and plan, as we wrote at checkout. */
  userId: string | null
  boughtAs: PlanType | null
  /** The time that it pays for. */
  start: number
  end: number
  /** Its total after credit notes, whether or not it was paid first. */
  cents: number
}

/** What its customer got back of a payment: by refunds, and by a dispute at their bank. */
export type Reversal = { refundedCents: number; dispute: DisputeState | null }

/** What happened to which object. We act on the object fetched by ID, never on the event's contents. */
export type PaymentEvent = {
  id: string
  type: string
  about: 'subscription' | 'checkout' | 'invoice' | 'payment' | 'other'
  objectId: string
  /** The invoice of the subscription's price that caused it, if one did. */
  invoiceId?: string | undefined
}

/** The provider has no such customer: someone deleted it there. */
export class CustomerMissing extends AppError {}

/**
 * Collects money. Verbs that create something take an idempotency key: the same key creates it once, for at
 * least a day. Every call may throw an `AppError`: 'unavailable' (retryable) if the outcome is unknown,
 * 'provider_failed' if the provider refused. Those that take a customer throw `CustomerMissing`.
 */
export type Payments = {
  findCustomer(user: { id: string; email: string }): Promise<string | null>
  createCustomer(user: { id: string; email: string }, key: string): Promise<string>

  /** Opens the page with the customer's payment method and receipts. It closes after a few minutes without use. */
  createPortal(portal: { customerId: string; returnUrl: string }): Promise<string>

  createCheckout(
    checkout: { customerId: string; userId: string; planType: PlanType; successUrl: string; cancelUrl: string },
    key: string,
  ): Promise<Checkout>
  /** Null if there is no such page. */
  getCheckout(id: string): Promise<Checkout | null>
  /** The IDs of the customer's open pages. */
  listOpenCheckouts(customerId: string): Promise<string[]>
  /** 'provider_failed' when it is no longer open. */
  expireCheckout(id: string): Promise<Checkout>

  /** The customer's default payment method, if we can charge it: it is attached, and no expired card. */
  findMethod(customerId: string, at: number): Promise<PayMethod | null>
  /**
   * Makes the card that pays a plan the customer's default: a checkout makes it only the plan's. Safe to repeat.
   * @returns null if we can't charge it
   */
  adoptCard(card: { customerId: string; subscriptionId: string }, at: number): Promise<PayMethod | null>

  findSubscription(id: string): Promise<PaidSubscription | null>
  /** The ids of those that haven't ended, the newest ten; none of a customer that was deleted. */
  listSubscriptions(customerId: string): Promise<string[]>
  /** The page to pay its latest invoice, which reactivates or upgrades it; null if that is paid or void. */
  findPlanPayPage(subscriptionId: string): Promise<string | null>
  /** Whether any of its invoices was paid in that time: half-open, ms since 1970. */
  wasPaidWithin(subscriptionId: string, time: { start: number; end: number }): Promise<boolean>
  /** Every invoice of a plan's own price. */
  listPlanInvoices(subscriptionId: string): Promise<Invoice[]>
  cancelAtPeriodEnd(id: string, key: string): Promise<PaidSubscription>
  /** Undoes that: it renews again. */
  resume(id: string, key: string): Promise<void>
  /** What `upgrade` with the same arguments would charge now. */
  quoteUpgrade(id: string, upgrade: Upgrade): Promise<number>
  /**
   * Changes the plan at once and charges the difference in price from `at` to the period's end. It then renews, even
   * if it was set to end. If the bank wants the customer to confirm the payment, the change waits for that (`upgradeUntil`).
   * @throws plan_unpaid: the card was declined, and nothing changed
   */
  upgrade(id: string, upgrade: Upgrade, key: string): Promise<void>
  /** Changes the plan with the next period, in two calls: until both are done, nothing changes. */
  scheduleChange(id: string, to: PlanType, key: string): Promise<void>
  /** Undoes that. */
  releaseSchedule(scheduleId: string): Promise<void>
  /** Ends it at once. Safe to repeat. */
  cancelNow(id: string): Promise<void>

  /** The invoice for a billing record, found by the id that we wrote on it. */
  findInvoiceOf(customerId: string, billId: string): Promise<Invoice | null>
  findInvoice(id: string): Promise<Invoice | null>
  /** Creates an empty draft. `charges`: once finalized, Stripe charges the customer's card; otherwise we send a link. */
  createInvoice(
    invoice: { customerId: string; billId: string; description: string; charges: boolean },
    key: string,
  ): Promise<Invoice>
  /** Turns a draft that would charge a card into one that we send. */
  chargeNothing(id: string, key: string): Promise<Invoice>
  addInvoiceLine(
    line: { customerId: string; invoiceId: string; cents: number; description: string },
    key: string,
  ): Promise<void>
  /** With `charges`, Stripe then charges the card within the hour, and again as its settings say. */
  finalizeInvoice(invoice: Pick<Invoice, 'id' | 'charges'>, key: string): Promise<Invoice>
  sendInvoice(id: string, key: string): Promise<Invoice>
  /** Stops Stripe's tries to charge an open invoice, or lets it go on. Safe to repeat. */
  setAdvance(id: string, advances: boolean): Promise<void>

  /** The credit for a correcting record, found by the id that we wrote on it. */
  findCredit(invoiceId: string, billId: string): Promise<{ id: string; cents: number } | null>
  /**
   * Takes `cents` off an invoice. What is more than is left to pay, `toBalanceCents`, is for the customer's next
   * invoices. @throws payment_refused if another amount is left to pay
   */
  creditInvoice(
    credit: { invoiceId: string; billId: string; cents: number; toBalanceCents: number; description: string },
    key: string,
  ): Promise<string>

  /** The invoice that a payment paid; null if it paid none. */
  findPaidInvoice(paymentId: string): Promise<string | null>
  findReversal(paymentId: string): Promise<Reversal>

  /** @param receivedAt ms since 1970 @throws malformed unless the provider signed it at most five minutes ago */
  readEvent(payload: string, signature: string, receivedAt: number): Promise<PaymentEvent>
}
