import { recordCents } from './billing.ts'

/** What server time beyond the plan's hours may cost in a month, in cents; and whether we then stop the server. */
export type Budget = { cents: number; stops: boolean }

/** A month's use so far. */
export type Counted = { seconds: number; cycle: { includedHours: number; trial: boolean } }

// Stryker disable next-line StringLiteral: an address; the route tests open it.
export const BUDGET_PAGE = '/settings/billing#budget'
export const OVER_BUDGET = 'Your budget for this month is used up. Raise it to start servers.'

/** Whether a month's charges, as the screens show them, have reached the budget. A trial charges nothing. */
export function isBudgetReached(budget: Budget, { seconds, cycle }: Counted): boolean {
  return isChargeReached(budget, recordCents(seconds, cycle) / 100)
}

export function isChargeReached({ cents }: Budget, chargedDollars: number): boolean {
  return Math.round(chargedDollars * 100) >= cents
}
