import type { Bill } from '../../domain/money/bill.ts'
import { dollars } from '../../domain/money/money.ts'
import { ButtonLink } from '../../ui/Button.tsx'
import { Time } from '../../ui/Time.tsx'

/** What is left to pay, each with its due date and the one button that pays it. */
export function OpenInvoices({ bills }: { bills: Bill[] }) {
  if (!bills.length) return null
  return (
    <ul className="stack" aria-label="Open invoices">
      {bills.map((bill) => (
        <li key={bill.id} className="row">
          <span>
            <strong>{dollars(bill.dollars_due)}</strong> for {bill.kind === 'plan' ? `the ${bill.plan} plan` : 'usage'},{' '}
            <Time at={bill.start_date} /> – <Time at={bill.end_date} />
            {bill.of_closed_account ? ' in the account you closed' : null}
            {bill.held ? (
              ', on hold: you don’t have to pay it now'
            ) : bill.due_date ? (
              <>
                , {bill.overdue ? 'overdue since' : 'due'} <Time at={bill.due_date} />
              </>
            ) : null}
            .
          </span>
          <ButtonLink href={bill.invoice_url ?? ''} {...(bill.held ? {} : { look: 'primary' as const })} small>
            Pay {dollars(bill.dollars_due)}
          </ButtonLink>
        </li>
      ))}
    </ul>
  )
}
