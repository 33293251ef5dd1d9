import { isLive } from '../server.ts'
import type { Summary } from '../wire/billing.ts'
import type { Server } from '../wire/fleet.ts'
import { trialMinutesLeft } from './billing.ts'
import { OVERAGE_DOLLARS_PER_HOUR } from './plan.ts'

export const SUSPENDED = 'Your account is suspended until you pay the overdue invoice.'
export const HELD = "We suspended your account, so you can't start servers. Contact us to find out why."
export const PLAN_UNPAID = 'Your plan is unpaid. Pay the open invoice to start servers again.'
export const NO_TRIAL = 'Your account has no free trial. Choose a plan to start servers.'
export const CONFIRM_UPGRADE =
  "Your bank wants you to confirm this payment. Confirm it on Stripe's page, and your plan changes at once."
/** Leads to Stripe's page for that invoice. */
// Stryker disable next-line StringLiteral: an address; the route tests open it.
export const PAY_PLAN = '/subscriptions/pay'
const TRIAL_OVER = {
  error: 'Your trial minutes are used up. Choose a plan to start servers again.',
  page: '/subscriptions',
}
export const PER_HOUR = `$${OVERAGE_DOLLARS_PER_HOUR}/h`
const RATE = `${PER_HOUR}, billed by the second`

/** What a start would cost: the hint beside Start when `startRefusal` is null. */
export function startCost({ subscription, monthlyUsage }: Summary): string {
  if (subscription?.sub_type === 'demo') return 'Free in your trial. You need no card.'
  const left = (subscription?.hours ?? 0) - monthlyUsage.hoursUsed
  if (left > 0) return `${left.toFixed(2)} hours left in your plan, then ${RATE}. Startup is free.`
  return `${RATE} once your server answers. Startup is free.`
}

/** Why the user can't start a server now; null if they can. */
export function startRefusal(
  { subscription, monthlyUsage, start_refusal }: Summary,
  servers: Pick<Server, 'active' | 'pending'>[],
): { error: string; page?: string } | null {
  if (start_refusal) return start_refusal
  if (servers.some(isLive)) return { error: 'One server at a time: stop this one before you start another.' }
  if (subscription?.sub_type === 'demo' && trialMinutesLeft(monthlyUsage.hoursUsed) <= 0) return TRIAL_OVER
  return null
}
