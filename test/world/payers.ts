import { addCard, type Card, defaultOf, detachCard, setDefault } from '../../dev/stripe/cards.ts'
import { beginDebit, isOnItsWay } from '../../dev/stripe/collecting.ts'
import type { Customer, Dispute, Invoice, PaymentMethod, Refund, Try } from '../../dev/stripe/objects.ts'
import { payInvoice } from '../../dev/stripe/plan-invoices.ts'
import { changeDispute, createRefund, openDispute } from '../../dev/stripe/reversals.ts'
import type { StripeWorld } from './stripe.ts'

/** What people, their banks, and the operator do about payments, on Stripe's pages and in its dashboard. */

export function customerOf(stripe: StripeWorld, userId: string): Customer | undefined {
  return stripe.customers().find(({ metadata }) => metadata.user_id === userId)
}

/** What charges their usage: null if they have nothing, or it can't. */
export function usableMethod(stripe: StripeWorld, userId: string, now: number): PaymentMethod | null {
  const customer = customerOf(stripe, userId)
  const method = stripe.all<PaymentMethod>('payment_methods').find(({ id }) => id === defaultOf(customer))
  if (!customer || method?.customer !== customer.id) return null
  const { card } = method
  return !card || Date.UTC(card.exp_year, card.exp_month) > now ? method : null
}

/** In the portal, it becomes the default. */
export function replaceCard(stripe: StripeWorld, { id }: Customer, card: Card): void {
  stripe.act((account) => {
    const method = addCard(account, id, card)
    setDefault(account, account.store.get<Customer>('customers', id) as Customer, method.id)
  })
}

export function removeCard(stripe: StripeWorld, customer: Customer): void {
  const method = defaultOf(customer)
  if (method) stripe.act((account) => detachCard(account, method))
}

/** Its last month is over. */
export function expireCard(stripe: StripeWorld, customer: Customer): void {
  stripe.act(({ store }) => {
    const method = store.get<PaymentMethod>('payment_methods', defaultOf(customer) ?? '')
    if (!method?.card) return
    store.put('payment_methods', method.id, { ...method, card: { ...method.card, exp_year: 2026 } })
    store.put('declined_cards', method.id, { since: 0 })
  })
}

/** Of our bills. @param debit from a bank account, which takes days; otherwise at once */
export function payOnThePage(stripe: StripeWorld, { id }: Invoice, debit: { returned: boolean } | null): void {
  stripe.act((account) => {
    const invoice = account.store.get<Invoice>('invoices', id)
    if (!invoice || isOnItsWay(account, id) || !/^(open|uncollectible)$/.test(invoice.status)) return
    if (debit) beginDebit(account, invoice, debit, account.now())
    else payInvoice(account, id)
  })
}

export const paidBy = (stripe: StripeWorld, userId: string): Invoice[] =>
  stripe
    .invoices()
    .filter((one) => one.customer === customerOf(stripe, userId)?.id && one.status === 'paid' && one.amount_paid > 0)

/** In the dashboard. @param whole everything that is left; otherwise a part */
export function refund(stripe: StripeWorld, { id, amount_paid }: Invoice, whole: boolean): void {
  const before = refundedOf(stripe, id)
  const left = amount_paid - before
  const cents = whole ? left : Math.ceil(left / 3)
  if (cents > 0) stripe.act((account) => createRefund(account, { payment_intent: `pi_${id}`, amount: String(cents) }))
}

export const refundedOf = (stripe: StripeWorld, invoiceId: string): number =>
  stripe
    .all<Refund>('refunds')
    .filter(({ payment_intent, status }) => payment_intent === `pi_${invoiceId}` && status !== 'failed')
    .reduce((sum, { amount }) => sum + amount, 0)

export const disputes = (stripe: StripeWorld): (Dispute & { invoice: string })[] =>
  stripe.all<Dispute>('disputes').map((one) => ({ ...one, invoice: one.payment_intent.replace('pi_', '') }))

/** Once per invoice. */
export function dispute(stripe: StripeWorld, { id }: Invoice): void {
  if (!disputes(stripe).some(({ invoice }) => invoice === id)) stripe.act((account) => openDispute(account, id))
}

export function decide(stripe: StripeWorld, { id }: Dispute, status: 'won' | 'lost'): void {
  stripe.act((account) => changeDispute(account, id, status))
}

/** Each time that Stripe tried to charge usage. */
export const tries = (stripe: StripeWorld): Try[] => stripe.all<Try>('tries')

/** Banks are paying these. */
export const isBeingPaid = (stripe: StripeWorld, invoiceId: string): boolean =>
  stripe.act((account) => isOnItsWay(account, invoiceId))
