import { PASSWORD_HINT, PASSWORDS_DO_NOT_MATCH, PASSWORDS_MATCH, signUpForm } from '../domain/user.ts'
import { Button } from '../ui/Button.tsx'
import { Checkbox, Field, PasswordField } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { signUpFailure } from './account-replies.ts'
import { request } from './request.ts'
import { ALERT_WORDS, useForm } from './useForm.ts'

export type SignUpFormProps = { csrfToken: string; flash: FlashMessage | null }

export function SignUpForm({ csrfToken, flash }: SignUpFormProps) {
  const { form, field, password, typed, busy, hydrated, said } = useForm({
    rules: signUpForm,
    flash,
    allRequired: true,
    async send(user) {
      const failure = signUpFailure(await request<object>('POST', '/users', { user }, undefined, { flash: true }))
      if (failure !== null) return { kind: 'danger', message: failure }
      location.assign('/sign_in')
      return null
    },
  })
  const repeated = Boolean(typed.password_confirmation)
  const match = typed.password === typed.password_confirmation
  const ready = repeated && match && typed.terms_of_service
  const terms = field('terms_of_service')

  return (
    <>
      <FlashAlert key={said.nth} flash={said.flash} id={ALERT_WORDS} />
      <form {...form} className="stack" method="post" action="/users">
        <HiddenFields csrfToken={csrfToken} />
        <Field {...field('name')} label="Name" autoComplete="name" dir="auto" required />
        <Field {...field('email')} label="Email" type="email" autoComplete="email" required />
        <PasswordField
          {...password('password')}
          label="Password"
          autoComplete="new-password"
          hint={PASSWORD_HINT}
          required
        />
        <PasswordField
          {...password('password_confirmation')}
          label="Confirm Password"
          autoComplete="new-password"
          required
          hint={
            <p id="match" className={match ? 'hint' : 'error'} aria-live="polite">
              {repeated ? (match ? PASSWORDS_MATCH : PASSWORDS_DO_NOT_MATCH) : '\u00a0'}
            </p>
          }
        />
        <Checkbox
          id="terms"
          name={terms.name}
          value="1"
          defaultChecked={terms.defaultValue === '1'}
          error={terms.error}
          required
          label={
            <>
              I accept the <a href="/terms_of_service">Terms of Service</a>
            </>
          }
        />
        <Button type="submit" look="primary" disabled={busy || (hydrated && !ready)} aria-describedby="match terms">
          Sign Up
        </Button>
      </form>
    </>
  )
}
