import { Alert } from '../parts/Alert.tsx'

/** Above everything on the dashboard while a bill is overdue. */
export function SuspendedNotice() {
  return (
    <Alert kind="warning">
      Your account is suspended: an invoice is overdue. You can start servers again as soon as it is paid.{' '}
      <a href="/billing_history">Go to your bills</a>
    </Alert>
  )
}
