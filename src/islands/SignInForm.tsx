import { useState } from 'react'
import { signInForm } from '../domain/user.ts'
import type { User } from '../domain/wire/accounts.ts'
import { Button } from '../ui/Button.tsx'
import { Field, PasswordField } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { asksForFactor, signInFailure } from './account-replies.ts'
import { ResendForm } from './confirm-email/ResendForm.tsx'
import { request } from './request.ts'
import { StateError } from './sign-in/StateError.tsx'
import { ALERT_WORDS, useForm } from './useForm.ts'

export type SignInFormProps = { csrfToken: string; flash: FlashMessage | null }

export function SignInForm({ csrfToken, flash }: SignInFormProps) {
  /** The refusal for which we sent a new link. */
  const [resent, setResent] = useState(-1)
  const { form, field, password, busy, said } = useForm({
    rules: signInForm,
    flash,
    allRequired: true,
    async send(user) {
      try {
        const reply = await request<{ user?: User; page?: string }>('POST', '/users/sign_in', { user })
        const failure = asksForFactor(reply) ? null : signInFailure(reply)
        if (failure !== null) return { kind: 'danger', message: failure, code: reply.body.code }
        location.assign(reply.body.page ?? '/dashboard')
        return null
      } catch {
        return { kind: 'danger', message: 'An unexpected error occurred during dispatch.' }
      }
    },
  })

  const unconfirmed = said.flash?.code === 'forbidden'

  return (
    <>
      {resent === said.nth ? null : <FlashAlert key={said.nth} flash={said.flash} id={ALERT_WORDS} />}
      {unconfirmed ? (
        <section key={`resend ${said.nth}`} className="stack resend" aria-label="Confirm your email">
          <ResendForm
            csrfToken={csrfToken}
            email={String(said.about.email ?? '')}
            onSent={() => setResent(said.nth)}
            atSignIn
          />
        </section>
      ) : null}
      <StateError />
      <form {...form} className="stack" method="post" action="/users/sign_in">
        <HiddenFields csrfToken={csrfToken} />
        <Field {...field('email')} label="Email" type="email" autoComplete="username webauthn" required />
        <PasswordField {...password('password')} label="Password" autoComplete="current-password" required />
        <Button type="submit" look="primary" disabled={busy} aria-live="polite">
          {busy ? 'Signing in...' : 'Sign In'}
        </Button>
      </form>
    </>
  )
}
