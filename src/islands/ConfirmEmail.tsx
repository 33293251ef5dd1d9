import { useEffect, useState } from 'react'
import { CONFIRMATION_FAILED } from '../domain/user.ts'
import { Alert } from '../ui/Alert.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { Spinner } from '../ui/States.tsx'
import { Confirmed } from './confirm-email/Confirmed.tsx'
import { ResendForm } from './confirm-email/ResendForm.tsx'
import { request } from './request.ts'

export type ConfirmEmailProps = {
  /** From the emailed link; null if the page was opened without one. */
  token: string | null
  csrfToken: string
  flash: FlashMessage | null
  /** The address that an expired link was sent to. */
  email: string
}

export function ConfirmEmail({ token, csrfToken, flash, email }: ConfirmEmailProps) {
  const [state, setState] = useState<'loading' | 'success' | 'no trial' | 'error' | 'resent'>(
    token ? 'loading' : 'error',
  )
  useEffect(() => {
    if (!token) return
    const path = `/users/confirmation?confirmation_token=${encodeURIComponent(token)}`
    void request<{ trial: boolean }>('GET', path, undefined, undefined, { flash: true }).then(({ ok, body }) =>
      setState(!ok ? 'error' : body.trial ? 'success' : 'no trial'),
    )
  }, [token])

  if (state === 'loading') return <Spinner label="Confirming your email..." />
  if (state === 'success' || state === 'no trial') return <Confirmed hasTrial={state === 'success'} />
  return (
    <>
      {state === 'error' ? <Failure flash={flash} /> : null}
      <ResendForm
        csrfToken={csrfToken}
        email={flash?.values?.['user[email]'] ?? email}
        onSent={() => setState('resent')}
      />
      {state === 'error' ? (
        <p className="hint">
          <a href="/sign_in">Sign In</a>
        </p>
      ) : null}
    </>
  )
}

/** A refused resend says why; a failed link always says what to do next. */
function Failure({ flash }: { flash: FlashMessage | null }) {
  if (flash && (flash.field || flash.code !== 'invalid')) return <FlashAlert flash={flash} />
  return <Alert kind="danger">{CONFIRMATION_FAILED} You can request a new confirmation link below:</Alert>
}
