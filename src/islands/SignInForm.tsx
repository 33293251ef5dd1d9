import { type FormEvent, useState } from 'react'
import { checkForm } from '../domain/form.ts'
import { CREDENTIALS_REQUIRED, signInForm } from '../domain/user.ts'
import type { User } from '../domain/wire.ts'
import { Button } from '../ui/Button.tsx'
import { Field, PasswordField } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { useHydrated } from '../ui/useHydrated.ts'
import { signInFailure } from './account-replies.ts'
import { request } from './request.ts'
import { StateError } from './sign-in/StateError.tsx'
import { emptyFields, type Fields, useFields } from './useFields.ts'

export type SignInFormProps = { csrfToken: string; flash: FlashMessage | null }

const NAMES = ['user[email]', 'user[password]']

/** The one sentence about both means whichever is empty. */
const blamed = (message: string | undefined, fields: Fields = {}) =>
  message === CREDENTIALS_REQUIRED ? emptyFields(fields, NAMES) : []

export function SignInForm({ csrfToken, flash }: SignInFormProps) {
  const { form, read } = useFields()
  const hydrated = useHydrated()
  const [shown, setShown] = useState(false)
  const [signingIn, setSigningIn] = useState(false)
  const [alert, setAlert] = useState({ flash, key: 0, empty: blamed(flash?.message, flash?.values) })
  const refuse = (message: string, fields?: Fields) =>
    setAlert({ flash: { kind: 'danger', message }, key: alert.key + 1, empty: blamed(message, fields) })
  const blamedBy = (name: string) => (alert.empty.includes(name) ? 'refusal' : null)

  async function submit(event: FormEvent) {
    event.preventDefault()
    const fields = read()
    const user = { email: fields['user[email]'] ?? '', password: fields['user[password]'] ?? '' }
    const checked = checkForm(signInForm, user)
    if (!checked.ok) return refuse(checked.faults[0].message, fields)
    setSigningIn(true)
    try {
      const failure = signInFailure(await request<{ user?: User }>('POST', '/users/sign_in', { user }))
      if (failure === null) return location.assign('/dashboard')
      refuse(failure)
    } catch {
      refuse('An unexpected error occurred during dispatch.')
    }
    setSigningIn(false)
  }

  return (
    <>
      <FlashAlert key={alert.key} flash={alert.flash} id="refusal" />
      <StateError />
      <form ref={form} className="stack" method="post" action="/users/sign_in" noValidate onSubmit={submit}>
        <HiddenFields csrfToken={csrfToken} />
        <Field
          id="email"
          name="user[email]"
          label="Email"
          type="email"
          autoComplete="username"
          defaultValue={flash?.values?.['user[email]']}
          blamedBy={blamedBy('user[email]')}
        />
        <PasswordField
          id="password"
          name="user[password]"
          label="Password"
          autoComplete="current-password"
          blamedBy={blamedBy('user[password]')}
          {...(hydrated ? { onToggle: () => setShown(!shown), shown } : {})}
        />
        <Button type="submit" look="primary" disabled={signingIn} aria-live="polite">
          {signingIn ? 'Signing in...' : 'Sign In'}
        </Button>
      </form>
    </>
  )
}
