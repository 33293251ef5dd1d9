import { overageUnits, unitsToDollars } from '../../domain/money/billing.ts'
import type { Plan } from '../../domain/money/plan.ts'

let format: Intl.NumberFormat | undefined

export function usd(dollars: number): string {
  format ??= new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
  return format.format(dollars)
}

/** What a month of `hours` costs in dollars: the plan, and what goes beyond its hours. */
export function monthTotal(plan: Pick<Plan, 'dollarsPerMonth' | 'hours'>, hours: number): number {
  return (plan.dollarsPerMonth ?? 0) + unitsToDollars(overageUnits(hours * 3600, plan.hours))
}
