import { BUDGET_PAGE } from '../../domain/money/budget.ts'
import { dollars } from '../../domain/money/money.ts'
import type { BillingView } from '../../domain/views.ts'
import { Badge } from '../../ui/Badge.tsx'
import { ButtonLink } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { DefinitionStats } from '../../ui/DefinitionStats.tsx'
import { FlashAlert, type FlashMessage } from '../../ui/FlashAlert.tsx'
import { Meter } from '../../ui/Meter.tsx'
import { ChargeUsage } from './ChargeUsage.tsx'
import { OpenInvoices } from './OpenInvoices.tsx'
import { PortalForm } from './PortalForm.tsx'

/** The balance is the unpaid invoices plus this cycle's charges so far. */
export function BillingCard({
  flash = null,
  ...props
}: BillingView & { csrfToken: string; flash?: FlashMessage | null }) {
  const { summary, unpaidDollars, openInvoices, overdue, hasPortal, csrfToken, budget, charging } = props
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
        <FlashAlert flash={flash} />
        <DefinitionStats
          stats={[
            { label: 'Current Balance', value: dollars(balance), hint: 'USD' },
            { label: 'Unpaid invoices', value: dollars(unpaidDollars) },
            { label: 'Monthly budget', value: budget ? dollars(budget.cents / 100) : 'None' },
          ]}
        />
        <OpenInvoices bills={openInvoices} />
        <Meter label="Cloud Time (This cycle)" value={hoursUsed} max={hours} text={text} />
        {hasPortal ? <ChargeUsage charging={charging} csrfToken={csrfToken} /> : null}
        <div className="row">
          <ButtonLink href="/billing_history">Billing History</ButtonLink>
          <ButtonLink href={BUDGET_PAGE}>Budget</ButtonLink>
          {hasPortal ? <PortalForm csrfToken={csrfToken} /> : null}
        </div>
      </div>
    </Card>
  )
}
