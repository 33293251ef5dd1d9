import { planName } from '../../domain/money/plan.ts'
import type { Subscription } from '../../domain/wire/billing.ts'
import { Button } from '../../ui/Button.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { Time } from '../../ui/Time.tsx'

type KeepPlanProps = { subscription: Subscription; csrfToken: string }

/** For a plan that is set to end or change: when, and the button to keep it. */
export function KeepPlan({ subscription, csrfToken }: KeepPlanProps) {
  const { plan_type, next_plan_type, cancel_at_period_end, current_period_end: at } = subscription
  const changes = next_plan_type !== null && next_plan_type !== plan_type
  if (!at || !(cancel_at_period_end || changes)) return null
  return (
    <form method="post" action="/api/v1/subscriptions/keep_subscription" className="stack">
      <HiddenFields csrfToken={csrfToken} values={{ about: 'plan' }} />
      <p>
        {changes ? `Becomes ${planName(next_plan_type)} on ` : 'Ends on '}
        <Time at={at.slice(0, 10)} /> (UTC)
      </p>
      <Button type="submit">Keep {planName(plan_type)}</Button>
    </form>
  )
}
