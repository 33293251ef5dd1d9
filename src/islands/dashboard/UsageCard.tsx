import type { MonthlyUsage, Subscription } from '../../domain/wire.ts'
import { Card } from '../../ui/Card.tsx'
import { DefinitionStats } from '../../ui/DefinitionStats.tsx'
import { Meter } from '../../ui/Meter.tsx'

let dollars: Intl.NumberFormat | undefined

export function UsageCard({ usage, subscription }: { usage: MonthlyUsage; subscription: Subscription | null }) {
  const hours = usage.hoursUsed.toFixed(2)
  dollars ??= new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
  return (
    <Card title="Monthly Usage">
      <DefinitionStats
        stats={[
          { label: 'Hours Used', value: hours },
          { label: 'Server Sessions', value: usage.serverSessions },
          { label: 'Amount Owed', value: dollars.format(usage.amountOwedDollars), hint: 'USD' },
        ]}
      />
      {subscription?.hours ? (
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
