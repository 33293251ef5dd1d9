import { DAY_MS, instantText } from '../instant.ts'
import type { Subscription } from '../wire/billing.ts'
import { gpusOf, planName, planOffered, upgradeWaits } from './plan.ts'

/** `5 hours per month`; while the current period differs: `24.36 hours until Dec 22, 2026, then 30 per month`. */
export function hoursText({ hours, next_hours, current_period_end }: Subscription): string {
  if (next_hours === null || next_hours === hours || current_period_end === null) return `${hours} hours per month`
  return `${hours} hours until ${day(current_period_end)}, then ${next_hours} per month`
}

/** What people have right after they pay for a plan. */
export function haveNow(subscription: Subscription): string {
  const { plan_type, current_period_end } = subscription
  const gpu = planOffered(plan_type)?.features.gpu
  const servers = gpu ? `, on servers with up to ${gpu}` : ''
  const renews = current_period_end ? ` It renews on ${day(current_period_end)}.` : ''
  return `You're on ${planName(plan_type)} now: ${hoursText(subscription)}${servers}.${renews}`
}

/** On the page that confirms a smaller plan, and after it. */
export const LARGE_SERVERS_END =
  'We stop a server that your plan no longer includes then, and email you a day and an hour before.'

/** After a change that waits for the next period, unless another tab has already taken it back. */
export function haveThen(subscription: Subscription): string {
  const { plan_type, next_plan_type, current_period_end } = subscription
  if (!next_plan_type || !current_period_end) return 'Your plan has changed.'
  if (next_plan_type === plan_type) return haveStill(subscription)
  const larger =
    gpusOf({ planType: plan_type, status: 'active' }) > gpusOf({ planType: next_plan_type, status: 'active' })
  const ends = larger ? ` ${LARGE_SERVERS_END}` : ''
  return `You keep ${planName(plan_type)} until ${day(current_period_end)}. Then your plan becomes ${planName(next_plan_type)}.${ends}`
}

/** After they undo a cancellation or such a change. */
export function haveStill({ plan_type, current_period_end }: Subscription): string {
  return `You keep ${planName(plan_type)}.${current_period_end ? ` It renews on ${day(current_period_end)}.` : ''}`
}

/** How long a page says that an upgrade expired. */
const LAPSED_SHOWN_MS = 7 * DAY_MS

/** An upgrade that is waiting until `until`, or expired then; null if there is none, or it expired long ago. */
export function upgradeOf(
  plan: { upgradeUntil: number | null } | null,
  now: number,
): { until: number; waits: boolean } | null {
  const until = plan?.upgradeUntil ?? null
  if (until === null || now >= until + LAPSED_SHOWN_MS) return null
  return { until, waits: upgradeWaits(plan, now) }
}

const day = (at: string) => instantText(at, false, 'day')
