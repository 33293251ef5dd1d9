import { type Bill, givenBack } from '../../domain/money/bill.ts'
import { dollars } from '../../domain/money/money.ts'
import { DataTable } from '../../ui/DataTable.tsx'
import { Icon, type IconName } from '../../ui/Icon.tsx'
import { EmptyState } from '../../ui/States.tsx'
import { Time } from '../../ui/Time.tsx'

const COLUMNS = [
  { key: 'start', label: 'Start Date', rowHeader: true },
  { key: 'end', label: 'End Date' },
  { key: 'amount', label: 'Amount Owed', numeric: true, lead: true },
  { key: 'seconds', label: 'Seconds Used', numeric: true },
  { key: 'paid', label: 'Paid' },
  { key: 'overdue', label: 'Overdue' },
  { key: 'transaction', label: 'Transaction ID' },
]

/** @param total of the bills shown, for the last row */
export function BillsTable({ bills, total }: { bills: Bill[]; total: number | null }) {
  if (bills.length === 0) return <EmptyState>No billing records</EmptyState>
  return (
    <div className="bills">
      <DataTable
        caption="Billing records, newest first"
        hideCaption
        columns={COLUMNS}
        rows={bills.map((bill) => ({ id: bill.id, cells: cellsOf(bill) }))}
        {...(total === null ? {} : { foot: { start: 'Total', amount: dollars(total) } })}
      />
    </div>
  )
}

function cellsOf(bill: Bill) {
  return {
    start: (
      <div>
        <BillLink bill={bill} />
        {bill.of_closed_account ? <div className="hint">From the account you closed</div> : null}
        {bill.kind === 'usage' ? null : (
          <div className="hint">{bill.kind === 'plan' ? `Plan: ${bill.plan}` : 'Correction'}</div>
        )}
      </div>
    ),
    end: <Time at={bill.end_date} />,
    amount: dollars(bill.amount_owed),
    seconds: bill.kind === 'plan' ? '—' : bill.seconds_used.toLocaleString('en-US'),
    paid: bill.paid ? (
      <span className="row">
        <Mark icon="check" text="Paid" />
        {givenBack(bill) ? <span className="hint">{givenBack(bill)}</span> : null}
      </span>
    ) : (
      <span className="row">
        <Mark icon="x" text="Not paid" />
        {bill.charge_date ? (
          <span className="hint">
            Charged automatically on <Time at={bill.charge_date} />
          </span>
        ) : bill.processing ? (
          <span className="hint">Your payment is on its way</span>
        ) : bill.held ? (
          <span className="hint">On hold</span>
        ) : null}
      </span>
    ),
    overdue: bill.overdue ? <Mark icon="triangle-alert" text="Overdue" /> : '—',
    transaction: bill.transaction_id ? (
      <span className="session-id">
        {bill.invoice_number}
        <code>{bill.transaction_id}</code>
      </span>
    ) : (
      '—'
    ),
  }
}

/** Usage links to our statement, a plan payment or a closed account's bill to Stripe's invoice. */
function BillLink({ bill }: { bill: Bill }) {
  const at = bill.kind === 'plan' || bill.of_closed_account ? bill.invoice_url : `/billing_history/${bill.id}`
  const date = <Time at={bill.start_date} />
  return at ? <a href={at}>{date}</a> : date
}

function Mark({ icon, text }: { icon: IconName; text: string }) {
  return (
    <span title={text}>
      <Icon name={icon} />
      <span className="visually-hidden">{text}</span>
    </span>
  )
}
