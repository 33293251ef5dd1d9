import { useState } from 'react'
import { Alert } from '../pages/parts/Alert.tsx'
import { Button } from '../pages/parts/Button.tsx'
import { request } from './request.ts'

/** Asks for a checkout page and goes there. */
export function CheckoutButton({ planType, planName }: { planType: string; planName: string }) {
  const [failure, setFailure] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)

  async function subscribe() {
    setBusy(true)
    setFailure(null)
    const { body } = await request<{ url?: string; Errors?: string[] }>(
      'POST',
      '/api/v1/subscriptions/create_checkout_session',
      { plan_type: planType },
    )
    if (body.url) {
      location.assign(body.url)
      return
    }
    setBusy(false)
    setFailure(`Subscription failed: ${(body.Errors ?? body.errors ?? [body.error ?? 'Network error']).join(', ')}`)
  }

  return (
    <div className="stack">
      {failure ? (
        <Alert kind="danger" onDismiss={() => setFailure(null)}>
          {failure}
        </Alert>
      ) : null}
      <Button look="primary" disabled={busy} onClick={() => void subscribe()}>
        Choose {planName}
      </Button>
    </div>
  )
}
