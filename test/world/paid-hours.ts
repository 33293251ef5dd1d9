import type { Invoice, Subscription } from '../../dev/stripe/objects.ts'

const [BASIC_HOURS, PREMIUM_HOURS] = [5, 30]
const PREMIUM_CENTS = 25_000

/** The hours that Stripe was paid for in a plan's period: those of its charge, and of an upgrade for the rest of the period. */
export function paidHours(invoices: Invoice[], subscription: string, start: number): number {
  const charges = invoices.filter(({ parent }) => parent?.subscription_details.subscription === subscription)
  const upgrades = charges.filter((one) => one.billing_reason === 'subscription_update' && one.status === 'paid')
  const charge = findCharge(invoices, subscription, start)
  const [line] = charge?.lines.data ?? []
  if (!line) return Number.NaN
  const hours = line.amount === PREMIUM_CENTS ? PREMIUM_HOURS : BASIC_HOURS
  const upgrade = upgrades.find((one) => one.lines.data[0]?.period.end === line.period.end)
  const from = upgrade?.lines.data[0]?.period.start
  if (from === undefined) return hours
  // As many of the additional hours as of the additional price, rounded up to hundredths.
  const [left, all] = [BigInt(line.period.end - from), BigInt(line.period.end - line.period.start)]
  const hundredths = BigInt((PREMIUM_HOURS - BASIC_HOURS) * 100) * left
  return (BASIC_HOURS * 100 + Number((hundredths + all - 1n) / all)) / 100
}

/** Until when a plan was paid for, in ms since 1970. Stripe may end or renew it late: nobody paid for the time since. */
export function paidFor({ items, ended_at: endedAt, cancel_at: cancelAt }: Subscription): number {
  const ends = endedAt === null ? [] : [endedAt, ...items.data.map((item) => item.current_period_end)]
  return Math.min(...ends, cancelAt ?? Infinity) * 1000
}

/** When the charge of a plan's period was paid. */
export function paidSince(invoices: Invoice[], subscription: string, start: number): number {
  return (findCharge(invoices, subscription, start)?.status_transitions.paid_at ?? Infinity) * 1000
}

/** Stripe counts in whole seconds: a plan may begin up to one before its owner's account, and thus before the first cycle. */
function findCharge(invoices: Invoice[], subscription: string, start: number): Invoice | undefined {
  return invoices.find(
    ({ parent, billing_reason, lines }) =>
      parent?.subscription_details.subscription === subscription &&
      billing_reason !== 'subscription_update' &&
      lines.data[0]?.period.start === Math.floor(start / 1000),
  )
}
