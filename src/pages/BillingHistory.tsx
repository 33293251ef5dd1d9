import { type Bill, billMonth, billMonths, openInvoices, totalDollars } from '../domain/money/bill.ts'
import type { ChargeChoice } from '../domain/money/charge.ts'
import type { Bar } from '../domain/money/usage-chart.ts'
import { Alert } from '../ui/Alert.tsx'
import { BarChart } from '../ui/BarChart.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { BillsTable } from './billing/BillsTable.tsx'
import { ChargeUsage } from './billing/ChargeUsage.tsx'
import { OpenInvoices } from './billing/OpenInvoices.tsx'
import { PortalForm } from './billing/PortalForm.tsx'

type BillingHistoryProps = {
  bills: Bill[]
  /** YYYY-MM; null or empty for All, which a month without bills shows as well. */
  month: string | null
  hoursPerDay: Bar[]
  dollarsPerMonth: Bar[]
  /** Null without a customer at Stripe: there is nothing to see there. */
  portalToken: string | null
  charging: ChargeChoice
}

export function BillingHistory({
  bills,
  month: asked,
  hoursPerDay,
  dollarsPerMonth,
  portalToken,
  charging,
}: BillingHistoryProps) {
  const months = billMonths(bills)
  const month = asked && months.includes(asked) ? asked : null
  const shown = month ? bills.filter((bill) => billMonth(bill) === month) : bills
  const open = openInvoices(bills)
  // A plan that was paid and not used yet has dollars, and no hours.
  const hasUsage = hoursPerDay.some(({ value }) => value) || bills.some(({ kind }) => kind !== 'plan')
  // Its anchor brings the focus back to the choice, and the page to its table.
  const filter = (
    <form action="/billing_history#month" className="row month-filter no-print">
      <label htmlFor="month">Month</label>
      <select id="month" name="month" className="input" defaultValue={month ?? ''}>
        <option value="">All</option>
        {months.map((value) => (
          <option key={value}>{value}</option>
        ))}
      </select>
      <Button type="submit">Show</Button>
    </form>
  )
  return (
    <div className="page stack">
      <div className="page-head">
        <h1>Billing History</h1>
        <div className="row no-print">
          {bills.length ? (
            <ButtonLink href={`/billing_history.csv${month ? `?month=${month}` : ''}`} download>
              Download CSV
            </ButtonLink>
          ) : null}
          {portalToken === null ? null : <PortalForm csrfToken={portalToken} />}
        </div>
      </div>
      {asked && !month ? <Alert kind="info">No bill starts in that month. Showing all bills.</Alert> : null}
      {open.length ? (
        <Card title="Open invoices">
          <OpenInvoices bills={open} />
        </Card>
      ) : null}
      {portalToken === null || charging !== 'unasked' ? null : (
        <div className="card no-print">
          <ChargeUsage charging={charging} csrfToken={portalToken} />
        </div>
      )}
      <Card title={month ? `Bills that start in ${month} (UTC)` : 'All bills'} aside={bills.length ? filter : null}>
        <BillsTable bills={shown} total={month ? totalDollars(shown) : null} />
        {bills.some((bill) => bill.kind === 'plan') ? (
          <p className="hint table-note">
            Credits are already deducted from plan payments. Refunds to your card appear beside the payment.
          </p>
        ) : null}
      </Card>
      {bills.length || hasUsage ? (
        <div className="grid charts no-print">
          {hasUsage ? (
            <Card title="Hours per day">
              <BarChart
                bars={hoursPerDay}
                unit="h"
                caption="Server hours, last 30 days (UTC)"
                empty="No servers ran in this period."
              />
            </Card>
          ) : null}
          <Card title="Dollars per month">
            <BarChart
              bars={dollarsPerMonth}
              unit="USD"
              caption="Plan and usage, last 12 months"
              empty="No charges yet."
            />
          </Card>
        </div>
      ) : null}
    </div>
  )
}
