import { dollars } from '../../domain/money/money.ts'
import type { BillingView } from '../../domain/views.ts'
import { Badge } from '../../ui/Badge.tsx'
import { ButtonLink } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { DefinitionStats } from '../../ui/DefinitionStats.tsx'
import { Meter } from '../../ui/Meter.tsx'

/** The balance is the unpaid invoices plus this cycle's charges so far. */
export function BillingCard({
  summary,
  unpaidDollars,
  overdue,
}: Pick<BillingView, 'summary' | 'unpaidDollars' | 'overdue'>) {
  const { hoursUsed, amountOwedDollars } = summary.monthlyUsage
  const balance = Math.round((unpaidDollars + amountOwedDollars) * 100) / 100
  const hours = summary.subscription?.hours ?? 0
  const text = `${hoursUsed.toFixed(2)} / ${hours} hours`
  const badge = overdue ? (
    <Badge color="red">Overdue</Badge>
  ) : (
    <Badge color={balance > 0 ? 'yellow' : 'green'}>{balance > 0 ? 'Due' : 'Paid'}</Badge>
  )
  return (
    <Card title="Billing" aside={badge}>
      <div className="stack">
        <DefinitionStats
          stats={[
            { label: 'Current Balance', value: dollars(balance), hint: 'USD' },
            { label: 'Unpaid invoices', value: dollars(unpaidDollars) },
          ]}
        />
        <Meter label="Cloud Time (This cycle)" value={hoursUsed} max={hours} text={text} />
        <div className="row">
          <ButtonLink href="/billing_history">Billing History</ButtonLink>
          <ButtonLink href="/settings/billing">Budget and payments</ButtonLink>
        </div>
      </div>
    </Card>
  )
}
