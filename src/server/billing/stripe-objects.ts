import type Stripe from 'stripe'
import type { BillTo } from '../../domain/money/bill.ts'
import type { InvoiceStatus } from '../../domain/money/invoice.ts'
import { PLANS, type PlanType, planOffered } from '../../domain/money/plan.ts'
import type { Checkout, Invoice, PaidSubscription, PayMethod, PaymentEvent, PlanCharge } from '../ports/payments.ts'

/** The lookup key of a plan's price at Stripe. */
export function priceLookupKey(planType: PlanType): string {
  return `proving_ground_${planType}_monthly`
}

const ms = (seconds: number) => seconds * 1000
const msOrNull = (seconds: number | null | undefined) => (seconds ? seconds * 1000 : null)
const idOf = (object: string | { id: string }) => (typeof object === 'string' ? object : object.id)

/** A plan that we wrote on an object. */
function planNamed(type: string | undefined): PlanType | null {
  return planOffered(type)?.type ?? null
}

export function toSubscription(s: Stripe.Subscription): PaidSubscription {
  const [item] = s.items.data
  const key = item?.price.lookup_key
  const schedule = s.schedule && typeof s.schedule === 'object' ? s.schedule : null
  const planType = PLANS.find((plan) => priceLookupKey(plan.type) === key)?.type ?? null
  // Written before an upgrade that waits for a payment, which may never arrive.
  const upgradedFrom = planNamed(s.metadata.upgraded_from)
  const isUpgraded = upgradedFrom !== null && upgradedFrom !== planType
  return {
    id: s.id,
    customerId: idOf(s.customer),
    userId: s.metadata.user_id ?? null,
    planType,
    boughtAs: planNamed(s.metadata.plan_type),
    status: s.status,
    anchor: ms(s.billing_cycle_anchor),
    periodStart: ms(item?.current_period_start ?? s.billing_cycle_anchor),
    periodEnd: ms(item?.current_period_end ?? s.billing_cycle_anchor),
    upgradedAt: isUpgraded ? msOrNull(Number(s.metadata.upgraded_at)) : null,
    upgradedFrom: isUpgraded ? upgradedFrom : null,
    upgradeUntil: msOrNull(s.pending_update?.expires_at),
    scheduleId: s.schedule ? idOf(s.schedule) : null,
    nextPlanType: planNamed(schedule?.metadata?.next_plan),
    cancelAtPeriodEnd: s.cancel_at_period_end,
    cancelAt: msOrNull(s.cancel_at),
    endedAt: toEnd(s),
  }
}

/** The end of its last period at the latest: Stripe may renew a plan late, and nobody paid for the time between. */
function toEnd({ ended_at: endedAt, items }: Stripe.Subscription): number | null {
  return endedAt && ms(Math.min(endedAt, items.data[0]?.current_period_end ?? endedAt))
}

export function toCheckout(s: Stripe.Checkout.Session): Checkout {
  return {
    id: s.id,
    status: (s.status ?? 'open') as Checkout['status'],
    url: s.url,
    customerId: s.customer ? idOf(s.customer) : null,
    subscriptionId: s.subscription ? idOf(s.subscription) : null,
    chargesUsage: toAnswer(s.custom_fields?.find(({ key }) => key === CHARGE_QUESTION.key)?.dropdown?.value),
  }
}

/** On the checkout page. Stripe takes letters and digits only. */
export const CHARGE_QUESTION = {
  key: 'chargeUsage',
  label: { type: 'custom' as const, custom: 'Charge extra server time to this card?' },
  type: 'dropdown' as const,
  // Someone who skips it can answer later, on the billing page.
  optional: true,
  dropdown: {
    options: [
      { value: 'yes', label: 'Yes. We email you a day before each charge.' },
      { value: 'no', label: 'No. We email you invoices to pay.' },
    ],
  },
}

function toAnswer(value: string | null | undefined): boolean | null {
  return value ? value === 'yes' : null
}

export function toInvoice(invoice: Stripe.Invoice): Invoice {
  return {
    id: invoice.id,
    billId: invoice.metadata?.record_id ?? null,
    customerId: customerOf(invoice),
    status: (invoice.status ?? 'draft') as InvoiceStatus,
    totalCents: invoice.total,
    creditedCents: creditedCents(invoice),
    remainingCents: invoice.amount_remaining,
    paidCents: invoice.amount_paid,
    dueAt: msOrNull(invoice.due_date),
    finalizedAt: msOrNull(invoice.status_transitions.finalized_at),
    paidAt: msOrNull(invoice.status_transitions.paid_at),
    hostedUrl: invoice.hosted_invoice_url ?? null,
    pdfUrl: invoice.invoice_pdf ?? null,
    number: invoice.number ?? null,
    billTo: toBillTo(invoice),
    charges: invoice.collection_method === 'charge_automatically',
    advances: invoice.auto_advance ?? false,
    ...toPayment(invoice),
    plan: toPlanCharge(invoice),
  }
}

const customerOf = ({ customer }: Stripe.Invoice) => (customer ? idOf(customer) : '')

function toBillTo({ customer_name, customer_address, customer_tax_ids }: Stripe.Invoice): BillTo {
  const { line1, line2, city, state, postal_code, country } = customer_address ?? {}
  const town = [city, [state, postal_code].filter(Boolean).join(' ')].filter(Boolean).join(', ')
  return {
    name: customer_name,
    address: [line1, line2, town, country].flatMap((line) => line || []),
    taxIds: (customer_tax_ids ?? []).flatMap(({ value }) => value ?? []),
  }
}

function creditedCents(invoice: Stripe.Invoice): number {
  return invoice.pre_payment_credit_notes_amount + invoice.post_payment_credit_notes_amount
}

/** How the payment of an unpaid invoice goes. An earlier failure doesn't count while another try is on its way. */
function toPayment({ status, payments }: Stripe.Invoice): Pick<Invoice, 'processing' | 'failure'> {
  const none = { processing: false, failure: null }
  if (status !== 'open' && status !== 'uncollectible') return none
  const intents = (payments?.data ?? [])
    .map(({ payment }) => payment.payment_intent)
    .filter((one): one is Stripe.PaymentIntent => typeof one === 'object')
  if (intents.some((intent) => intent.status === 'processing')) return { ...none, processing: true }
  const [intent] = intents
  const error = intent?.last_payment_error
  const asks = intent?.status === 'requires_action' || error?.code === 'authentication_required'
  if (!asks && !error) return none
  const why = error?.message ?? 'Your bank wants you to confirm the payment.'
  const charge = intent?.latest_charge
  return {
    ...none,
    failure: { id: charge ? idOf(charge) : null, why, asks, method: methodName(error?.payment_method?.type) },
  }
}

/** @param type Stripe's; none where only a card can be meant */
export function methodName(type = 'card'): PayMethod {
  if (type === 'card') return 'card'
  return /_(debit|bank_account)$/.test(type) ? 'bank account' : 'payment method'
}

function toPlanCharge(invoice: Stripe.Invoice): PlanCharge | null {
  const parent = invoice.parent?.subscription_details
  if (!parent) return null
  // The invoice's own period is the previous one.
  const periods = invoice.lines.data.map((line) => line.period)
  return {
    subscriptionId: idOf(parent.subscription),
    customerId: customerOf(invoice),
    userId: parent.metadata?.user_id ?? null,
    boughtAs: planNamed(parent.metadata?.plan_type),
    start: ms(Math.min(...(periods.length ? periods.map(({ start }) => start) : [invoice.period_start]))),
    end: ms(Math.max(...(periods.length ? periods.map(({ end }) => end) : [invoice.period_end]))),
    cents: invoice.total - creditedCents(invoice),
  }
}

export function toEvent(event: Stripe.Event): PaymentEvent {
  const object = event.data.object as {
    id?: string
    object?: string
    parent?: Stripe.Invoice['parent']
    invoice?: Stripe.CreditNote['invoice']
    payment_intent?: Stripe.Charge['payment_intent']
  }
  // An invoice of a plan's price matters for its effect on the plan first.
  const plan = object.object === 'invoice' ? object.parent?.subscription_details?.subscription : null
  if (plan) return { id: event.id, type: event.type, about: 'subscription', objectId: idOf(plan), invoiceId: object.id }
  // A credit note changes its invoice, and not always with an event of the invoice.
  if (object.object === 'credit_note' && object.invoice)
    return { id: event.id, type: event.type, about: 'invoice', objectId: idOf(object.invoice) }
  if (/^(charge|refund|dispute)$/.test(object.object ?? '') && object.payment_intent)
    return { id: event.id, type: event.type, about: 'payment', objectId: idOf(object.payment_intent) }
  const about = {
    subscription: 'subscription' as const,
    'checkout.session': 'checkout' as const,
    invoice: 'invoice' as const,
  }[object.object ?? '']
  // An announced invoice (`invoice.upcoming`) doesn't exist yet and has no id.
  return { id: event.id, type: event.type, about: (object.id && about) || 'other', objectId: object.id ?? '' }
}
