import type { Account } from './account.ts'
import { methodOf, refusalOf } from './cards.ts'
import { Failure, invalid } from './failure.ts'
import { integer, type Params } from './form.ts'
import { draft, setTotal, settle } from './invoices.ts'
import type { Customer, Invoice, Price, Subscription } from './objects.ts'

type Line = Invoice['lines']['data'][number]

/** The lines for a price change: a credit for the unused time at the old price, and the same time at the new one. */
export function prorationOf(subscription: Subscription, price: Price, params: Params): Omit<Line, 'id'>[] {
  const [item] = subscription.items.data
  if (!item || item.price.id === price.id) return []
  const { current_period_start: start, current_period_end: end } = item
  const at = integer(params, 'proration_date') ?? start
  if (at < start || at >= end)
    throw invalid('The proration date must be within the current period.', 'subscription_proration_date')
  const share = (end - at) / (end - start)
  const line = (sign: number, { unit_amount, product }: Price, words: string) => ({
    object: 'line_item' as const,
    amount: sign * Math.round(unit_amount * share),
    currency: 'usd' as const,
    description: `${words} time on ${product.replace('prod_', '').replace('_monthly', '')}`,
    period: { start: at, end },
  })
  return [line(-1, item.price, 'Unused'), line(1, price, 'Remaining')]
}

/** What an upgrade would charge. Changes nothing. */
export function previewUpdate(
  account: Account,
  params: Params,
  subscription: Subscription,
  price: Price,
): Omit<Invoice, 'id'> {
  const details = params.subscription_details
  const lines = prorationOf(subscription, price, typeof details === 'object' && !Array.isArray(details) ? details : {})
  const { id: _, ...invoice } = invoiceOf(account, subscription, lines)
  return { ...invoice, amount_due: Math.max(0, invoice.amount_due + ownerOf(account, subscription).balance) }
}

/**
 * Charges the card at once.
 * @returns false if the invoice stays open, since the call lets the change wait for its payment
 * @throws Failure, changing nothing, if the card doesn't pay and the call wants all or nothing
 */
export function chargeProration(
  account: Account,
  subscription: Subscription,
  lines: Omit<Line, 'id'>[],
  behavior: string | undefined,
): boolean {
  if (!lines.length) return true
  const code = whyNot(account, subscription)
  if (code && behavior !== 'pending_if_incomplete')
    throw new Failure(402, 'card_error', 'Your card did not pay.', { code })
  const invoice = invoiceOf(account, subscription, lines)
  const owner = ownerOf(account, subscription)
  const now = account.now()
  invoice.status = 'open'
  invoice.number = `PG-${String(account.store.all('invoices').length + 1).padStart(6, '0')}`
  invoice.status_transitions.finalized_at = now
  invoice.hosted_invoice_url = `${account.apiBase}/i/${invoice.id}`
  invoice.invoice_pdf = `${account.apiBase}/i/${invoice.id}/pdf`
  invoice.starting_balance = owner.balance
  owner.balance += Math.min(Math.max(0, -owner.balance), Math.max(0, invoice.total))
  invoice.ending_balance = owner.balance
  account.store.put('customers', owner.id, owner)
  setTotal(invoice, invoice.total)
  subscription.latest_invoice = invoice.id
  account.store.put('invoices', invoice.id, invoice)
  account.announce('invoice.finalized', invoice)
  if (code) {
    account.announce('invoice.payment_action_required', invoice)
    return false
  }
  settle(account, invoice, now)
  return true
}

/** Stripe's code for why the card doesn't pay; null if it does. */
function whyNot(account: Account, subscription: Subscription): string | null {
  const code = refusalOf(account, methodOf(account, subscription))?.code ?? null
  return code === 'authentication_required' ? 'subscription_payment_intent_requires_action' : code
}

function invoiceOf(account: Account, subscription: Subscription, lines: Omit<Line, 'id'>[]): Invoice {
  const invoice = draft(account, ownerOf(account, subscription), account.now())
  invoice.billing_reason = 'subscription_update'
  invoice.parent = {
    type: 'subscription_details',
    subscription_details: { subscription: subscription.id, metadata: subscription.metadata },
  }
  invoice.lines.data = lines.map((line) => ({ id: account.newId('il'), ...line }))
  setTotal(
    invoice,
    lines.reduce((sum, { amount }) => sum + amount, 0),
  )
  return invoice
}

function ownerOf(account: Account, subscription: Subscription): Customer {
  return account.store.get<Customer>('customers', subscription.customer) as Customer
}
