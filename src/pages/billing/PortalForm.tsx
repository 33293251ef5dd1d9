import { Button } from '../../ui/Button.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'

/** Takes them to Stripe, which keeps the card and the receipts. */
export function PortalForm({ csrfToken }: { csrfToken: string }) {
  return (
    <form method="post" action="/api/v1/billings/portal">
      <HiddenFields csrfToken={csrfToken} />
      <Button type="submit">Payment method and receipts</Button>
    </form>
  )
}
