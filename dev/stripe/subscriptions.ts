import type { Account } from './account.ts'
import { addCard, type Card, setCard } from './cards.ts'
import { invalid, noSuch } from './failure.ts'
import { flag, list, type Params, record, text } from './form.ts'
import type { CheckoutSession, Invoice, Price, Subscription } from './objects.ts'
import { expirePending, keepPending } from './pending-updates.ts'
import { chargePlan } from './plan-invoices.ts'
import { chargeProration, prorationOf } from './prorations.ts'
import { advanceSchedule } from './schedules.ts'

/** Stripe retries a card for two weeks. */
const TRIED_FOR = 14 * 86_400

/** Follows a paid checkout. */
export function startSubscription(
  account: Account,
  session: CheckoutSession,
  price: Price,
  metadata: Record<string, string>,
  card: Card,
) {
  const now = account.now()
  const id = account.newId('sub')
  const item = {
    id: account.newId('si'),
    object: 'subscription_item' as const,
    created: now,
    subscription: id,
    current_period_start: now,
    current_period_end: monthsAfter(now, 1),
    price,
    quantity: 1 as const,
  }
  const subscription: Subscription = {
    id,
    object: 'subscription',
    created: now,
    start_date: now,
    livemode: false,
    customer: session.customer,
    status: 'active',
    billing_cycle_anchor: now,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    ended_at: null,
    collection_method: 'charge_automatically',
    currency: 'usd',
    items: { object: 'list', has_more: false, url: `/v1/subscription_items?subscription=${id}`, data: [item] },
    latest_invoice: null,
    pending_update: null,
    schedule: null,
    // Checkout sets the card as the plan's default, not as the customer's.
    default_payment_method: addCard(account, session.customer, 'good').id,
    metadata,
  }
  chargePlan(account, subscription, 'subscription_create', now)
  save(account, subscription, 'customer.subscription.created', now)
  setCard(account, id, card)
  return subscription
}

export function updateSubscription(account: Account, id: string, params: Params): Subscription {
  const subscription = getSubscription(account, id)
  if (subscription.status === 'canceled') throw invalid('A canceled subscription can only update its metadata.')
  const atPeriodEnd = flag(params, 'cancel_at_period_end')
  if (atPeriodEnd !== undefined && subscription.schedule)
    throw invalid(
      `The subscription is managed by the subscription schedule \`${subscription.schedule}\`, and updating any cancelation behavior directly is not allowed. Please update the schedule instead.`,
    )
  // Do what may fail first, so that a refusal changes nothing.
  const price = changedPrice(account, params)
  if (price && text(params, 'proration_behavior') === 'always_invoice') {
    const lines = prorationOf(subscription, price, params)
    if (lines.length) expirePending(account, subscription)
    if (!chargeProration(account, subscription, lines, text(params, 'payment_behavior')))
      return keepPending(account, subscription, price, atPeriodEnd)
  }
  if (atPeriodEnd !== undefined && atPeriodEnd === !subscription.pending_update?.cancel_at_period_end)
    expirePending(account, subscription)
  const [item] = subscription.items.data
  if (price && item) item.price = price
  if (atPeriodEnd !== undefined) {
    subscription.cancel_at_period_end = atPeriodEnd
    subscription.cancel_at = atPeriodEnd ? (item?.current_period_end ?? null) : null
    subscription.canceled_at = atPeriodEnd ? account.now() : null
  }
  subscription.metadata = { ...subscription.metadata, ...record(params, 'metadata') }
  save(account, subscription, 'customer.subscription.updated', account.now())
  return subscription
}

/** Undefined if the call doesn't name one. */
export function changedPrice(account: Account, params: Params): Price | undefined {
  const [change] = list(params, 'items') as Params[]
  const id = change && text(change, 'price')
  const price = id ? account.store.get<Price>('prices', id) : undefined
  if (id && !price) throw noSuch('price', id)
  return price
}

export function cancelSubscription(account: Account, id: string, at = account.now()): Subscription {
  const subscription = getSubscription(account, id)
  if (subscription.status === 'canceled') throw noSuch('subscription', id)
  expirePending(account, subscription)
  subscription.status = 'canceled'
  subscription.canceled_at ??= at
  subscription.ended_at = at
  save(account, subscription, 'customer.subscription.deleted', at)
  return subscription
}

/**
 * Ends periods that are over: starts and charges the next one, or cancels the subscription.
 * @param lateBy how late Stripe is, in seconds
 */
export function renewSubscriptions(account: Account, lateBy: number): void {
  const { store } = account
  const now = account.now()
  for (const subscription of store.all<Subscription>('subscriptions'))
    while (subscription.status !== 'canceled') {
      const item = subscription.items.data[0]
      if (!item) break
      const end = item.current_period_end
      giveUp(account, subscription, Math.min(end, now))
      if (end > now) break
      if (end > now - lateBy) {
        store.put('late_renewals', subscription.id, { end })
        break
      }
      // Nobody could have seen this yet, so it counts as on time.
      const at = store.get<{ end: number }>('late_renewals', subscription.id)?.end === end ? now : end
      if (subscription.cancel_at_period_end) {
        cancelSubscription(account, subscription.id, end)
        break
      }
      item.current_period_start = end
      item.current_period_end = monthsAfter(subscription.billing_cycle_anchor, monthsSince(subscription, end) + 1)
      advanceSchedule(account, subscription, end)
      chargePlan(account, subscription, 'subscription_cycle', at)
      save(account, subscription, 'customer.subscription.updated', at)
    }
}

/** Marks it unpaid after two weeks of declined cards. */
function giveUp(account: Account, subscription: Subscription, by: number): void {
  if (subscription.status !== 'past_due') return
  const tried = account.store.get<Invoice>('invoices', subscription.latest_invoice ?? '')
  const at = (tried?.created ?? Number.POSITIVE_INFINITY) + TRIED_FOR
  if (at > by) return
  subscription.status = 'unpaid'
  save(account, subscription, 'customer.subscription.updated', at)
}

export function getSubscription(account: Account, id: string): Subscription {
  const subscription = account.store.get<Subscription>('subscriptions', id)
  if (!subscription) throw noSuch('subscription', id)
  return subscription
}

function save(account: Account, subscription: Subscription, event: string, at: number): void {
  account.store.put('subscriptions', subscription.id, subscription)
  account.announce(event, subscription, at)
}

function monthsSince(subscription: Subscription, at: number): number {
  let months = 0
  while (monthsAfter(subscription.billing_cycle_anchor, months) < at) months++
  return months
}

/** Stripe's rule: the anchor's day of the month, or the last day of a shorter month. */
function monthsAfter(anchor: number, months: number): number {
  const d = new Date(anchor * 1000)
  const [year, month] = [d.getUTCFullYear(), d.getUTCMonth() + months]
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const midnight = Date.UTC(year, month, Math.min(d.getUTCDate(), lastDay))
  return midnight / 1000 + (anchor % 86_400)
}
