import { BASIC, gpusOf, planName } from '../../domain/money/plan.ts'
import { hoursText, LARGE_SERVERS_END } from '../../domain/money/plan-words.ts'
import type { Subscription } from '../../domain/wire/billing.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { FlashAlert, type FlashMessage } from '../../ui/FlashAlert.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { Time } from '../../ui/Time.tsx'
import { KeepPlan } from './KeepPlan.tsx'

type SubscriptionCardProps = {
  subscription: Subscription | null
  csrfToken: string
  /** The result of a form on this card. */
  flash: FlashMessage | null
}

export function SubscriptionCard({ subscription, csrfToken, flash }: SubscriptionCardProps) {
  if (!subscription)
    return (
      <Card title="Subscription" aside={<Badge color="gray">No Plan</Badge>}>
        <div className="stack">
          <FlashAlert flash={flash} />
          <p>Server time costs $1.75 an hour, billed by the second.</p>
          <ButtonLink href="/subscriptions">Subscriptions</ButtonLink>
        </div>
      </Card>
    )
  const { status, plan_type, sub_type, current_period_end, cancel_at_period_end, next_plan_type } = subscription
  const renews = !cancel_at_period_end && next_plan_type === plan_type
  const good = status === 'active' || status === 'trialing'
  return (
    <Card title="Subscription" aside={<Badge color={good ? 'green' : 'gray'}>{status}</Badge>}>
      <div className="stack">
        <FlashAlert flash={flash} />
        <p>
          <strong>{planName(plan_type)}</strong>
          {sub_type === 'demo' ? ': 30 minutes of server time' : `: ${hoursText(subscription)}`}
        </p>
        {current_period_end && renews ? (
          <p>
            Renews <Time at={current_period_end.slice(0, 10)} /> (UTC)
          </p>
        ) : null}
        <KeepPlan subscription={subscription} csrfToken={csrfToken} />
        <div className="row">
          <ButtonLink href="/subscriptions">Subscriptions</ButtonLink>
        </div>
        {sub_type === 'paid' && !cancel_at_period_end ? (
          <details>
            <summary>Cancel subscription</summary>
            <form method="post" action="/api/v1/subscriptions/cancel_subscription_at_period_end" className="stack">
              <HiddenFields csrfToken={csrfToken} values={{ about: 'plan' }} />
              <p>
                You keep your plan until this period ends. It won't renew after that.{' '}
                {gpusOf({ planType: subscription.plan_type, status: 'active' }) > BASIC.gpus ? LARGE_SERVERS_END : null}
              </p>
              <Button type="submit" look="danger">
                Cancel at period end
              </Button>
            </form>
          </details>
        ) : null}
      </div>
    </Card>
  )
}
