import { changeOf, ENTERPRISE, isUnpaid, type Plan, planName } from '../../domain/money/plan.ts'
import { PAY_PLAN } from '../../domain/money/start-cost.ts'
import type { Subscription } from '../../domain/wire/billing.ts'
import { CheckoutButton } from '../../islands/CheckoutButton.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { Time } from '../../ui/Time.tsx'
import { Island } from '../Island.tsx'
import { KeepPlan } from './KeepPlan.tsx'

export type PlanChoiceProps = {
  plan: Plan
  subscription: Subscription | null
  /** Whether the plan is paid at Stripe, so that the person can change it here. */
  changeable: boolean
  /** An upgrade is waiting for the bank's confirmation. */
  upgradeWaits: boolean
  forSale: boolean
  csrfToken: string
}

/** What someone can do about one plan: buy it, change to it, or keep it. */
export function PlanChoice({ plan, subscription, changeable, upgradeWaits, forSale, csrfToken }: PlanChoiceProps) {
  const has = subscription?.sub_type === 'paid' ? subscription : null
  if (has?.plan_type === plan.type) return <Current plan={plan} subscription={has} csrfToken={csrfToken} />
  if (plan === ENTERPRISE) return <ButtonLink href="/contact_sales">Contact sales</ButtonLink>
  if (!forSale) return <Button disabled>Coming Soon!</Button>
  // A paid plan may replace an unpaid one.
  if (!has || isUnpaid(has)) {
    const props = { planType: plan.type, planName: plan.name, csrfToken }
    return <Island name="CheckoutButton" of={CheckoutButton} props={props} />
  }
  const change = changeable ? changeOf(has.plan_type, plan.type) : null
  if (!change) return <ButtonLink href="/contact_sales">Contact sales</ButtonLink>
  if (change === 'upgrade' && upgradeWaits)
    return (
      <ButtonLink href={PAY_PLAN} look="primary">
        Confirm payment
      </ButtonLink>
    )
  if (has.next_plan_type === plan.type)
    return (
      <Button disabled>
        Starts <Time at={has.current_period_end?.slice(0, 10) ?? ''} />
      </Button>
    )
  if (change === 'downgrade' && has.cancel_at_period_end)
    return <p className="hint">Keep {planName(has.plan_type)} first, then you can switch.</p>
  return (
    <ButtonLink
      href={`/subscriptions/change?plan_type=${plan.type}`}
      {...(change === 'upgrade' && { look: 'primary' })}
    >
      {change === 'upgrade' ? 'Upgrade to' : 'Switch to'} {plan.name}
    </ButtonLink>
  )
}

function Current({ plan, subscription, csrfToken }: { plan: Plan; subscription: Subscription; csrfToken: string }) {
  return (
    <div className="stack">
      <KeepPlan subscription={subscription} csrfToken={csrfToken} />
      {isUnpaid(subscription) ? (
        <p>
          This plan is unpaid. <a href={PAY_PLAN}>Pay the open invoice</a>
        </p>
      ) : null}
      <Button disabled aria-label={`Current plan: ${plan.name}`}>
        Current plan
      </Button>
    </div>
  )
}
