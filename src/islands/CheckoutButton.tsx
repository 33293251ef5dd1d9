import { type FormEvent, useState } from 'react'
import { Alert } from '../ui/Alert.tsx'
import { Button } from '../ui/Button.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { request } from './request.ts'

const CREATE_CHECKOUT = '/api/v1/subscriptions/create_checkout_session'

type CheckoutButtonProps = { planType: string; planName: string; csrfToken: string }

/** Asks for a checkout page and goes there. */
export function CheckoutButton({ planType, planName, csrfToken }: CheckoutButtonProps) {
  const [failure, setFailure] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)

  async function subscribe(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setFailure(null)
    const { body } = await request<{ url?: string; Errors?: string[] }>('POST', CREATE_CHECKOUT, {
      plan_type: planType,
    })
    if (body.url) {
      location.assign(body.url)
      return
    }
    setBusy(false)
    setFailure(checkoutFailure(body.Errors ?? body.errors ?? [body.error ?? 'Network error']))
  }

  return (
    <div className="stack">
      {failure ? (
        <Alert kind="danger" takesFocus onDismiss={() => setFailure(null)}>
          {failure}
        </Alert>
      ) : null}
      <form className="stack" method="post" action={CREATE_CHECKOUT} onSubmit={(event) => void subscribe(event)}>
        <HiddenFields csrfToken={csrfToken} />
        <input type="hidden" name="plan_type" value={planType} />
        <Button type="submit" look="primary" disabled={busy}>
          Choose {planName}
        </Button>
      </form>
    </div>
  )
}

export function checkoutFailure(errors: string[]): string {
  return `Subscription failed: ${errors.join(', ')}`
}
