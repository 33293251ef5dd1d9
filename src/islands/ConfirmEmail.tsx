import { useEffect, useState } from 'react'
import { Alert } from '../pages/parts/Alert.tsx'
import { FlashAlert, type FlashMessage } from '../pages/parts/FlashAlert.tsx'
import { Spinner } from '../pages/parts/States.tsx'
import { Confirmed } from './confirm-email/Confirmed.tsx'
import { ResendForm } from './confirm-email/ResendForm.tsx'
import { request } from './request.ts'

export type ConfirmEmailProps = {
  /** From the mailed link; null when the page was opened without. */
  token: string | null
  csrfToken: string
  flash: FlashMessage | null
  /** Whom an expired link was for. */
  email: string
}

export function ConfirmEmail({ token, csrfToken, flash, email }: ConfirmEmailProps) {
  const [state, setState] = useState<'loading' | 'success' | 'error'>(token ? 'loading' : 'error')
  useEffect(() => {
    if (!token) return
    const path = `/users/confirmation?confirmation_token=${encodeURIComponent(token)}`
    void request('GET', path).then((reply) => setState(reply.ok ? 'success' : 'error'))
  }, [token])

  if (state === 'loading') return <Spinner label="Confirming your email..." />
  if (state === 'success') return <Confirmed />
  return (
    <>
      {flash ? (
        <FlashAlert flash={flash} />
      ) : (
        <Alert kind="danger">
          Invalid or expired confirmation link. You can request a new confirmation link below:
        </Alert>
      )}
      <ResendForm csrfToken={csrfToken} email={flash?.values?.['user[email]'] ?? email} />
    </>
  )
}
