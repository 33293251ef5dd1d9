import type { Bill } from '../../domain/money/bill.ts'
import { dollars } from '../../domain/money/money.ts'
import type { MonthlyUsage, Subscription } from '../../domain/wire.ts'
import { Card } from '../../ui/Card.tsx'
import { DefinitionStats } from '../../ui/DefinitionStats.tsx'
import { Meter } from '../../ui/Meter.tsx'
import { OpenInvoices } from './OpenInvoices.tsx'

type Props = {
  usage: MonthlyUsage
  subscription: Subscription | null
  /** Bills for earlier months, and for the plan. */
  openInvoices: Bill[]
}

export function UsageCard({ usage, subscription, openInvoices }: Props) {
  const hours = usage.hoursUsed.toFixed(2)
  return (
    <Card title="Monthly Usage" className="usage">
      <DefinitionStats
        stats={[
          { label: 'Hours Used', value: hours },
          { label: 'Server Sessions', value: usage.serverSessions },
          { label: 'Amount Owed', value: dollars(usage.amountOwedDollars), hint: 'USD' },
        ]}
      />
      {openInvoices.length ? <h3>Open invoices</h3> : null}
      <OpenInvoices bills={openInvoices} />
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
