import { recordCents, runSeconds, trialMinutesLeft } from './billing.ts'
import { OVERAGE_DOLLARS_PER_HOUR, OVERAGE_DOLLARS_PER_SECOND } from './plan.ts'
import type { Summary } from './wire.ts'

const RATE = `$${OVERAGE_DOLLARS_PER_HOUR} an hour ($${OVERAGE_DOLLARS_PER_SECOND} a second)`

/** What a start would cost, and what is still free: one sentence to read before it. */
export function startCost({ subscription, monthlyUsage }: Summary): string {
  if (subscription?.sub_type === 'demo') {
    const minutes = trialMinutesLeft(monthlyUsage.hoursUsed)
    return minutes > 0
      ? `Free: ${minutes.toFixed(2)} trial minutes are left, and loading does not count.`
      : 'Your trial minutes are used up.'
  }
  const left = (subscription?.hours ?? 0) - monthlyUsage.hoursUsed
  if (left > 0) return `Free for ${left.toFixed(2)} more hours of your plan, then ${RATE}. Loading is free.`
  return `Costs ${RATE} from the moment it runs. Loading is free.`
}

/**
 * What a running server has come to by `now`: its seconds, and in words what they cost. Of a run that outlasts the plan's hours only
 * what is owed counts, as of the summary.
 */
export function runCost(
  startedAt: number,
  now: number,
  { subscription, monthlyUsage }: Summary,
): { seconds: number; cost: string } {
  const seconds = runSeconds(startedAt, Math.max(startedAt, now))
  const hours = subscription?.hours ?? 0
  if (subscription?.sub_type === 'demo') return { seconds, cost: 'free trial' }
  if (monthlyUsage.hoursUsed < hours) return { seconds, cost: 'in your plan' }
  const whole = recordCents(seconds, { includedHours: 0, trial: false })
  const cents = hours > 0 ? Math.min(whole, Math.round(monthlyUsage.amountOwedDollars * 100)) : whole
  return { seconds, cost: `$${(cents / 100).toFixed(2)}` }
}
