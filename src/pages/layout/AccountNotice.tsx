import { HELD, PAY_PLAN } from '../../domain/money/start-cost.ts'
import { Alert } from '../../ui/Alert.tsx'

export type AccountIssue = 'held' | 'suspended' | 'plan_unpaid'

/** At the top of every page for a user who cannot start servers until they pay. */
export function AccountNotice({ issue }: { issue: AccountIssue }) {
  return (
    <div className="page page-flash">
      <Alert kind="warning">
        {issue === 'held' ? (
          <>
            {HELD} <a href="/contact_sales">Contact us</a>
          </>
        ) : issue === 'suspended' ? (
          <>
            Your account is suspended because an invoice is overdue. Once you pay it, you can start servers again.{' '}
            <a href="/billing_history">View your bills</a>
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
