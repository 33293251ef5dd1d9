/** We count money in units of 1e-7 USD, so that the price of a second is a whole number. */
export const UNITS_PER_DOLLAR = 10_000_000
export const UNITS_PER_SECOND = 4861

/** What makes metered time free. */
export type Free = 'trial' | 'plan'

export const FREE_WORDS: Record<Free, string> = { trial: 'free trial', plan: 'covered by your plan' }

let format: Intl.NumberFormat | undefined

export function dollars(amount: number): string {
  format ??= new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
  return format.format(amount)
}

/** What something cost. A tiny amount never reads as nothing. */
export function costText(amount: number): string {
  return amount > 0 && amount < 0.005 ? 'less than $0.01' : dollars(amount)
}

/** For amounts that may be less than a cent. */
export function fineDollars(amount: number): string {
  return amount.toLocaleString('en-US', { style: 'currency', currency: 'USD', minimumFractionDigits: 4 })
}

export function seconds(n: number): string {
  return `${n.toLocaleString('en-US')} s`
}
