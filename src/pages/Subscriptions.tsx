import { toIso } from '../domain/instant.ts'
import { PLANS, type PlanType, PREMIUM, planName } from '../domain/money/plan.ts'
import { PAY_PLAN } from '../domain/money/start-cost.ts'
import type { Subscription } from '../domain/wire/billing.ts'
import type { Worlds } from '../domain/wire/fleet.ts'
import { checkoutFailure } from '../islands/CheckoutButton.tsx'
import { Alert } from '../ui/Alert.tsx'
import { Badge } from '../ui/Badge.tsx'
import { ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { Time } from '../ui/Time.tsx'
import { PlanChoice } from './billing/PlanChoice.tsx'
import { HardwareTable } from './pricing/HardwareTable.tsx'
import { WorldTable } from './pricing/WorldTable.tsx'

type SubscriptionsProps = {
  subscription: Subscription | null
  /** Whether they pay for it at Stripe, so that they can change it here. */
  changeable: boolean
  /** An upgrade that is waiting for the bank's confirmation: until when, in ms since 1970, or when it expired. */
  upgrade: { until: number; waits: boolean } | null
  /** Until sales open, Basic and Premium are for display only. */
  forSale: boolean
  /** What happens to their files in plans that don't include them. */
  filesThen: Map<PlanType, string>
  /** What servers can simulate today. */
  worlds: Worlds
  csrfToken: string
  flash: FlashMessage | null
}

export function Subscriptions(props: SubscriptionsProps) {
  const { subscription, changeable, upgrade, forSale, filesThen, worlds, csrfToken, flash } = props
  return (
    <div className="page stack">
      <div className="page-head">
        <div>
          <h1>Subscriptions</h1>
          <p className="hint">
            {subscription ? `Your plan: ${planName(subscription.plan_type)}` : 'You have no plan yet.'}
            {forSale || subscription?.sub_type === 'paid' ? null : (
              <>
                {' · '}You can't buy Basic or Premium here yet. <a href="/contact_sales">Contact sales</a> to get one.
              </>
            )}
          </p>
        </div>
        <ButtonLink href="/account_overview">Manage Subscription</ButtonLink>
      </div>
      {upgrade ? <UpgradeAlert {...upgrade} answers={flash?.code === 'plan_unpaid'} /> : null}
      <FlashAlert flash={upgrade?.waits && flash?.code === 'plan_unpaid' ? null : aboutCheckout(flash)} />
      <div className="grid grid-3">
        {PLANS.map((plan) => (
          <Card
            key={plan.type}
            title={plan.name}
            {...(plan === PREMIUM && {
              className: 'plan-popular',
              aside: <span className="popular">Most Popular</span>,
            })}
          >
            <div className="stack">
              <p>
                <span className="price-tag">
                  {plan.dollarsPerMonth === null ? 'Custom' : `$${plan.dollarsPerMonth}`}
                </span>
                {plan.dollarsPerMonth === null ? '' : '/mo'}
                {plan.type === subscription?.plan_type ? <Badge color="green">Your plan</Badge> : null}
              </p>
              <p>{plan.hours ? `${plan.hours} hours included, then $1.75/h, billed by the second` : 'Custom hours'}</p>
              {plan.type !== subscription?.plan_type && filesThen.has(plan.type) ? (
                <Alert kind="warning">{filesThen.get(plan.type)}</Alert>
              ) : null}
              <PlanChoice
                plan={plan}
                subscription={subscription}
                changeable={changeable}
                upgradeWaits={upgrade?.waits === true}
                forSale={forSale}
                csrfToken={csrfToken}
              />
            </div>
          </Card>
        ))}
      </div>
      <HardwareTable />
      <WorldTable worlds={worlds} />
    </div>
  )
}

/** @param answers whether the user just pressed "Upgrade" */
function UpgradeAlert({ until, waits, answers }: { until: number; waits: boolean; answers: boolean }) {
  if (!waits)
    return (
      <Alert kind="info">
        Your upgrade to Premium wasn't confirmed with your bank in time, so you're still on Basic. You weren't charged.
        You can upgrade again whenever you like.
      </Alert>
    )
  return (
    <Alert kind="warning" takesFocus={answers}>
      Your bank wants you to confirm the payment for Premium. <a href={PAY_PLAN}>Confirm it on Stripe's page</a> by{' '}
      <Time at={toIso(until)} />, and you're on Premium at once. Until then, you stay on Basic and we charge nothing.
    </Alert>
  )
}

/** A refused checkout comes back here with the plan that the user chose. */
function aboutCheckout(flash: FlashMessage | null): FlashMessage | null {
  return flash?.values?.plan_type ? { ...flash, message: checkoutFailure([flash.message]) } : flash
}
