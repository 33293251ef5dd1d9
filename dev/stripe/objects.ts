/** The fields of Stripe's objects we keep. Times are whole seconds since 1970; money is in cents. */
type Metadata = Record<string, string>

export type Customer = {
  id: string
  object: 'customer'
  created: number
  livemode: false
  email: string | null
  name: string | null
  /** Missing in older data folders. */
  address?: Address | null
  balance: number
  /** Missing in older data folders. */
  invoice_settings?: { default_payment_method: string | null }
  metadata: Metadata
}

export type Address = Record<'line1' | 'line2' | 'city' | 'state' | 'postal_code' | 'country', string | null>

export type TaxId = {
  id: string
  object: 'tax_id'
  created: number
  livemode: false
  customer: string
  country: string | null
  type: string
  value: string
}

export type PaymentMethod = {
  id: string
  object: 'payment_method'
  created: number
  livemode: false
  type: 'card' | 'us_bank_account'
  /** Null once detached. */
  customer: string | null
  card?: { brand: 'visa'; last4: string; exp_month: number; exp_year: number }
  metadata: Metadata
}

/** The latest attempt to pay an invoice. */
export type PaymentIntent = {
  id: string
  object: 'payment_intent'
  status: 'succeeded' | 'processing' | 'requires_action' | 'requires_payment_method'
  latest_charge: string
  last_payment_error: {
    type: 'card_error' | 'invalid_request_error'
    code: string
    message: string
    payment_method?: { type: PaymentMethod['type'] }
  } | null
}

export type Price = {
  id: string
  object: 'price'
  created: number
  livemode: false
  active: boolean
  currency: 'usd'
  lookup_key: string | null
  metadata: Metadata
  product: string
  recurring: { interval: 'month'; interval_count: 1; usage_type: 'licensed' }
  type: 'recurring'
  unit_amount: number
}

export type Product = { id: string; object: 'product'; created: number; livemode: false; active: boolean; name: string }

export type CheckoutSession = {
  id: string
  object: 'checkout.session'
  created: number
  livemode: false
  mode: 'subscription'
  status: 'open' | 'complete' | 'expired'
  payment_status: 'paid' | 'unpaid'
  customer: string
  client_reference_id: string | null
  subscription: string | null
  invoice: string | null
  success_url: string
  cancel_url: string | null
  expires_at: number
  amount_total: number
  currency: 'usd'
  /** Questions on the page, and their answers. */
  custom_fields: CustomField[]
  /** Whether it asks a company for its name, address, and tax ID. Missing in older data folders. */
  tax_id_collection?: { enabled: boolean }
  metadata: Metadata
  url: string | null
}

export type CustomField = {
  key: string
  label: { type: 'custom'; custom: string }
  optional: boolean
  type: 'dropdown'
  dropdown: { options: { label: string; value: string }[]; value: string | null }
}

export type Subscription = {
  id: string
  object: 'subscription'
  created: number
  start_date: number
  livemode: false
  customer: string
  status: 'active' | 'past_due' | 'unpaid' | 'incomplete' | 'incomplete_expired' | 'trialing' | 'paused' | 'canceled'
  billing_cycle_anchor: number
  cancel_at: number | null
  cancel_at_period_end: boolean
  canceled_at: number | null
  ended_at: number | null
  collection_method: 'charge_automatically'
  currency: 'usd'
  items: {
    object: 'list'
    has_more: false
    url: string
    data: {
      id: string
      object: 'subscription_item'
      created: number
      subscription: string
      current_period_start: number
      current_period_end: number
      price: Price
      quantity: 1
    }[]
  }
  latest_invoice: string | null
  /** A change that waits for the payment of `latest_invoice`. */
  pending_update: PendingUpdate | null
  schedule: string | null
  /** Missing in older data folders. */
  default_payment_method?: string | null
  metadata: Metadata
}

type PendingUpdate = {
  expires_at: number
  cancel_at_period_end: boolean | null
  subscription_items: { id: string; price: Price }[]
}

export type SubscriptionSchedule = {
  id: string
  object: 'subscription_schedule'
  created: number
  livemode: false
  customer: string
  subscription: string
  status: 'active' | 'released'
  end_behavior: 'release'
  phases: SchedulePhase[]
  metadata: Metadata
}

export type SchedulePhase = {
  start_date: number
  end_date: number
  items: { price: string; quantity: number }[]
  metadata: Metadata
}

export type InvoiceItem = {
  id: string
  object: 'invoiceitem'
  date: number
  livemode: false
  customer: string
  invoice: string | null
  amount: number
  currency: string
  description: string | null
  metadata: Metadata
}

type InvoiceLine = {
  id: string
  object: 'line_item'
  amount: number
  currency: 'usd'
  description: string
  period: { start: number; end: number }
}

/** A visit to the customer portal. */
export type PortalSession = {
  id: string
  object: 'billing_portal.session'
  created: number
  livemode: false
  customer: string
  return_url: string | null
  url: string
}

export type Invoice = {
  id: string
  object: 'invoice'
  created: number
  livemode: false
  customer: string
  customer_email: string | null
  /** As the customer was when it was finalized. Missing in older data folders. */
  customer_name?: string | null
  customer_address?: Address | null
  customer_tax_ids?: { type: string; value: string }[]
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible'
  billing_reason: 'manual' | 'subscription_create' | 'subscription_cycle' | 'subscription_update'
  collection_method: 'send_invoice' | 'charge_automatically'
  auto_advance: boolean
  /** Missing in older data folders, like the next two. */
  attempted?: boolean
  attempt_count?: number
  next_payment_attempt?: number | null
  currency: string
  description: string | null
  amount_due: number
  amount_paid: number
  amount_remaining: number
  /** Total credited before payment. */
  pre_payment_credit_notes_amount: number
  /** Total credited after payment. */
  post_payment_credit_notes_amount: number
  /** The customer's balance before and after finalization; negative means credit. */
  starting_balance: number
  ending_balance: number | null
  subtotal: number
  total: number
  due_date: number | null
  number: string | null
  hosted_invoice_url: string | null
  invoice_pdf: string | null
  metadata: Metadata
  parent: { type: 'subscription_details'; subscription_details: { subscription: string; metadata: Metadata } } | null
  /** The previous period. The one that a subscription's invoice charges is in `lines`. */
  period_start: number
  period_end: number
  /** Only for a plan's invoices. Other items are separate objects. */
  lines: { object: 'list'; has_more: false; url: string; data: InvoiceLine[] }
  status_transitions: {
    finalized_at: number | null
    marked_uncollectible_at: number | null
    paid_at: number | null
    voided_at: number | null
  }
  /** Ours, for finalization. Stripe stores it but never shows it. */
  days_until_due: number | null
}

export type CreditNote = {
  id: string
  object: 'credit_note'
  created: number
  livemode: false
  customer: string
  invoice: string
  amount: number
  currency: 'usd'
  memo: string | null
  status: 'issued'
  type: 'pre_payment' | 'post_payment' | 'mixed'
  /** What it took off the amount left to pay, and what it gave to the balance. */
  pre_payment_amount: number
  post_payment_amount: number
  metadata: Metadata
  lines: { object: 'list'; data: { description: string }[] }
}

/** Money that went back to where a payment came from. */
export type Refund = {
  id: string
  object: 'refund'
  created: number
  amount: number
  currency: 'usd'
  payment_intent: string
  /** A bank may send it back days later. */
  status: 'succeeded' | 'failed'
}

/** A customer's complaint about a payment at their bank. */
export type Dispute = {
  id: string
  object: 'dispute'
  created: number
  amount: number
  currency: 'usd'
  payment_intent: string
  reason: 'general'
  status: DisputeStatus
}
/** A warning is an inquiry: the bank asks, and may turn it into a dispute. */
export type DisputeStatus = 'warning_needs_response' | 'warning_closed' | 'needs_response' | 'won' | 'lost'

/** Ours, for tests: each time that we tried to charge an invoice. */
export type Try = { id: string; invoice: string; at: number }

export type StripeEvent = {
  id: string
  object: 'event'
  api_version: string
  created: number
  livemode: false
  pending_webhooks: number
  request: { id: string | null; idempotency_key: string | null }
  type: string
  data: { object: unknown }
}
