import { dollars } from '../../domain/money/money.ts'
import type { MonthlyUsage, Subscription } from '../../domain/wire/billing.ts'
import { Card } from '../../ui/Card.tsx'
import { DefinitionStats } from '../../ui/DefinitionStats.tsx'
import { Meter } from '../../ui/Meter.tsx'

type Props = {
  usage: MonthlyUsage
  subscription: Subscription | null
  /** Unpaid from earlier months, and from the plan. */
  unpaidDollars: number
}

export function UsageCard({ usage, subscription, unpaidDollars }: Props) {
  const hours = usage.hoursUsed.toFixed(2)
  // The banner says what is left of a trial.
  const isTrial = subscription?.sub_type === 'demo'
  return (
    <Card title="Monthly Usage" className="usage">
      <DefinitionStats
        stats={[
          { label: 'Hours Used', value: hours },
          { label: 'Server Sessions', value: usage.serverSessions },
          { label: 'Amount Owed', value: dollars(usage.amountOwedDollars), hint: 'USD' },
        ]}
      />
      {unpaidDollars ? (
        <p>
          Unpaid invoices: <a href="/billing_history">{dollars(unpaidDollars)}</a>
        </p>
      ) : null}
      {subscription?.hours && !isTrial ? (
        <Meter
          label="Included hours"
          value={usage.hoursUsed}
          max={subscription.hours}
          text={`${hours} of ${subscription.hours} h`}
        />
      ) : null}
    </Card>
  )
}
