import type { Account } from './account.ts'
import { invalid, missing, noSuch } from './failure.ts'
import { integer, list, type Params, record, text } from './form.ts'
import type { Price, SchedulePhase, Subscription, SubscriptionSchedule } from './objects.ts'

/** Schedules a subscription's periods. At first it has only the current one, so it changes nothing yet. */
export function createSchedule(account: Account, params: Params): SubscriptionSchedule {
  const id = text(params, 'from_subscription')
  if (!id) throw missing('from_subscription')
  const subscription = account.store.get<Subscription>('subscriptions', id)
  const [item] = subscription?.items.data ?? []
  if (!subscription || !item) throw noSuch('subscription', id)
  if (subscription.status === 'canceled') throw invalid('The subscription is canceled.')
  if (subscription.schedule) throw invalid('The subscription already has a schedule attached.', 'from_subscription')
  const schedule: SubscriptionSchedule = {
    id: account.newId('sub_sched'),
    object: 'subscription_schedule',
    created: account.now(),
    livemode: false,
    customer: subscription.customer,
    subscription: id,
    status: 'active',
    end_behavior: 'release',
    phases: [
      {
        start_date: item.current_period_start,
        end_date: item.current_period_end,
        items: [{ price: item.price.id, quantity: 1 }],
        metadata: {},
      },
    ],
    metadata: {},
  }
  attach(account, subscription, schedule, schedule.id)
  return schedule
}

export function updateSchedule(account: Account, params: Params, id: string): SubscriptionSchedule {
  const schedule = getActive(account, id)
  const phases = list(params, 'phases') as Params[]
  if (phases.length) schedule.phases = phases.map((phase) => toPhase(account, phase))
  if (schedule.phases[0]?.start_date === undefined || schedule.phases.some(({ items }) => !items.length))
    throw missing('phases')
  schedule.metadata = { ...schedule.metadata, ...record(params, 'metadata') }
  account.store.put('schedules', id, schedule)
  account.announce('subscription_schedule.updated', schedule)
  return schedule
}

/** Releases the schedule: the subscription continues unchanged. */
export function releaseSchedule(account: Account, id: string, at = account.now()): SubscriptionSchedule {
  const schedule = getActive(account, id)
  const subscription = account.store.get<Subscription>('subscriptions', schedule.subscription)
  schedule.status = 'released'
  if (subscription) attach(account, subscription, schedule, null, at)
  return schedule
}

/** At a renewal, the new phase decides the price. After the last phase, the schedule is over. */
export function advanceSchedule(account: Account, subscription: Subscription, at: number): void {
  const schedule = subscription.schedule
    ? account.store.get<SubscriptionSchedule>('schedules', subscription.schedule)
    : undefined
  if (!schedule) return
  const phase = schedule.phases.find(({ start_date, end_date }) => start_date <= at && at < end_date)
  const price = phase && account.store.get<Price>('prices', phase.items[0]?.price ?? '')
  const [item] = subscription.items.data
  if (!price || !item) {
    releaseSchedule(account, schedule.id, at)
    return
  }
  item.price = price
  subscription.metadata = { ...subscription.metadata, ...phase.metadata }
}

export function getSchedule(account: Account, id: string): SubscriptionSchedule {
  const schedule = account.store.get<SubscriptionSchedule>('schedules', id)
  if (!schedule) throw noSuch('subscription_schedule', id)
  return schedule
}

function getActive(account: Account, id: string): SubscriptionSchedule {
  const schedule = getSchedule(account, id)
  if (schedule.status !== 'active')
    throw invalid(`You cannot change a subscription schedule that is currently in the \`${schedule.status}\` status.`)
  return schedule
}

function toPhase(account: Account, params: Params): SchedulePhase {
  const [start, end] = [integer(params, 'start_date'), integer(params, 'end_date')]
  if (start === undefined || end === undefined) throw missing('phases[end_date]')
  const items = (list(params, 'items') as Params[]).map((item) => {
    const price = text(item, 'price') ?? ''
    if (!account.store.get<Price>('prices', price)) throw noSuch('price', price)
    return { price, quantity: integer(item, 'quantity') ?? 1 }
  })
  return { start_date: start, end_date: end, items, metadata: record(params, 'metadata') }
}

function attach(
  account: Account,
  subscription: Subscription,
  schedule: SubscriptionSchedule,
  attached: string | null,
  at = account.now(),
): void {
  subscription.schedule = attached
  account.store.put('schedules', schedule.id, schedule)
  account.store.put('subscriptions', subscription.id, subscription)
  account.announce(`subscription_schedule.${attached ? 'created' : 'released'}`, schedule, at)
  account.announce('customer.subscription.updated', subscription, at)
}
