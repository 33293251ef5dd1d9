import { PAY_PLAN } from '../../domain/money/start-cost.ts'
import { Alert } from '../../ui/Alert.tsx'

export type AccountIssue = 'suspended' | 'plan_unpaid'

/** Above everything on every page of somebody who cannot start servers until they have paid. */
export function AccountNotice({ issue }: { issue: AccountIssue }) {
  return (
    <div className="page page-flash">
      <Alert kind="warning">
        {issue === 'suspended' ? (
          <>
            Your account is suspended: an invoice is overdue. You can start servers again as soon as it is paid.{' '}
            <a href="/billing_history">Go to your bills</a>
          </>
        ) : (
          <>
            Your plan is not paid: its last payment failed. Until you pay, no hours are included and you cannot start
            servers. <a href={PAY_PLAN}>Pay the open invoice</a>
          </>
        )}
      </Alert>
    </div>
  )
}
