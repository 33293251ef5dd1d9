import { dollars } from '../../domain/money/money.ts'
import { HELD, PAY_PLAN } from '../../domain/money/start-cost.ts'
import { Alert } from '../../ui/Alert.tsx'

/** What a suspended person owes in all. With one invoice, also the page to pay it. */
export type Overdue = { dollars: number; payUrl: string | null }

export type AccountIssue = 'held' | 'suspended' | 'plan_unpaid'

type AccountNoticeProps = {
  issue: AccountIssue
  overdue: Overdue | null
  /** Not on a page that lists the open invoices: each has its own button there. */
  links: boolean
}

/** At the top of every page for a user who cannot start servers until they pay. */
export function AccountNotice({ issue, overdue, links }: AccountNoticeProps) {
  const sum = overdue ? dollars(overdue.dollars) : 'it'
  return (
    <div className="page page-flash no-print">
      <Alert kind="warning">
        {issue === 'held' ? (
          <>
            {HELD} <a href="/contact_sales">Contact us</a>
          </>
        ) : issue === 'suspended' ? (
          <>
            Your account is suspended because an invoice is overdue. Once {sum} is paid, you can start servers again.{' '}
            {!links ? null : overdue?.payUrl ? (
              <a href={overdue.payUrl}>Pay&nbsp;{sum}&nbsp;now</a>
            ) : (
              <a href="/billing_history">View your bills</a>
            )}
          </>
        ) : (
          <>
            Your last plan payment failed. Until you pay, your plan includes no hours and you can't start servers.{' '}
            <a href={PAY_PLAN}>Pay the open invoice</a>
          </>
        )}
      </Alert>
    </div>
  )
}
