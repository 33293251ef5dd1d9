import { Button } from '../ui/Button.tsx'
import { FlashAlert } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { request } from './request.ts'
import { useForm } from './useForm.ts'

const CREATE_CHECKOUT = '/api/v1/subscriptions/create_checkout_session'

type CheckoutButtonProps = { planType: string; planName: string; csrfToken: string }

/** Requests a checkout page and goes there. */
export function CheckoutButton({ planType, planName, csrfToken }: CheckoutButtonProps) {
  const { form, busy, said } = useForm({
    async send() {
      const { body } = await request<{ url?: string; Errors?: string[] }>('POST', CREATE_CHECKOUT, {
        plan_type: planType,
      })
      if (!body.url)
        return {
          kind: 'danger',
          message: checkoutFailure(body.Errors ?? body.errors ?? [body.error ?? 'Network error']),
        }
      location.assign(body.url)
      return null
    },
  })

  return (
    <div className="stack">
      <FlashAlert key={said.nth} flash={said.flash} />
      <form {...form} className="stack" method="post" action={CREATE_CHECKOUT}>
        <HiddenFields csrfToken={csrfToken} values={{ plan_type: planType }} />
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
