import { type FormEvent, useState } from 'react'
import { checkForm } from '../domain/form.ts'
import { ALL_FIELDS_REQUIRED, PASSWORDS_DO_NOT_MATCH, PASSWORDS_MATCH, signUpForm } from '../domain/user.ts'
import { Button } from '../ui/Button.tsx'
import { Checkbox, Field, PasswordField } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { useHydrated } from '../ui/useHydrated.ts'
import { signUpFailure } from './account-replies.ts'
import { request } from './request.ts'
import { emptyFields, type Fields, useFields } from './useFields.ts'

export type SignUpFormProps = { csrfToken: string; flash: FlashMessage | null }

const NAMES = ['user[name]', 'user[email]', 'user[password]', 'user[password_confirmation]']

/** The one sentence about all of them means those that are empty. */
const blamed = (message: string | undefined, fields: Fields = {}) =>
  message === ALL_FIELDS_REQUIRED ? emptyFields(fields, NAMES) : []

export function SignUpForm({ csrfToken, flash }: SignUpFormProps) {
  const { form, fields, read } = useFields()
  const hydrated = useHydrated()
  const [shown, setShown] = useState(false)
  const [sending, setSending] = useState(false)
  const [alert, setAlert] = useState({ flash, key: 0, empty: blamed(flash?.message, flash?.values) })
  const toggle = hydrated ? { onToggle: () => setShown(!shown), shown } : {}

  const typed = Boolean(fields['user[password_confirmation]'])
  const match = fields['user[password]'] === fields['user[password_confirmation]']
  const ready = typed && match && fields['user[terms_of_service]'] === '1'
  const fault = (field: string) => (alert.flash?.field === field ? alert.flash.message : null)
  const blamedBy = (name: string) => (alert.empty.includes(name) ? 'refusal' : null)
  const refuse = (message: string, field: string | null = null) =>
    setAlert({ flash: { kind: 'danger', message, field }, key: alert.key + 1, empty: blamed(message, read()) })

  async function submit(event: FormEvent) {
    event.preventDefault()
    const user = toSignUp(read())
    const checked = checkForm(signUpForm, user)
    if (!checked.ok) return refuse(checked.faults[0].message, checked.faults[0].field)
    setSending(true)
    const reply = await request<object>('POST', '/users', { user }, undefined, { flash: true })
    const failure = signUpFailure(reply)
    if (failure === null) return location.assign('/sign_in')
    setSending(false)
    refuse(failure)
  }

  return (
    <>
      <FlashAlert key={alert.key} flash={alert.flash} id="refusal" />
      <form ref={form} className="stack" method="post" action="/users" noValidate onInput={read} onSubmit={submit}>
        <HiddenFields csrfToken={csrfToken} />
        <Field
          id="name"
          name="user[name]"
          label="Name"
          autoComplete="name"
          defaultValue={flash?.values?.['user[name]']}
          error={fault('name')}
          blamedBy={blamedBy('user[name]')}
        />
        <Field
          id="email"
          name="user[email]"
          label="Email"
          type="email"
          autoComplete="email"
          defaultValue={flash?.values?.['user[email]']}
          error={fault('email')}
          blamedBy={blamedBy('user[email]')}
        />
        <PasswordField
          id="password"
          name="user[password]"
          label="Password"
          autoComplete="new-password"
          hint="At least 6 characters."
          error={fault('password')}
          blamedBy={blamedBy('user[password]')}
          {...toggle}
        />
        <PasswordField
          id="password_confirmation"
          name="user[password_confirmation]"
          label="Confirm Password"
          autoComplete="new-password"
          error={fault('password_confirmation')}
          blamedBy={blamedBy('user[password_confirmation]')}
          {...toggle}
          hint={
            <p id="match" className={match ? 'hint' : 'error'} aria-live="polite">
              {typed ? (match ? PASSWORDS_MATCH : PASSWORDS_DO_NOT_MATCH) : '\u00a0'}
            </p>
          }
        />
        <Checkbox
          id="terms"
          name="user[terms_of_service]"
          value="1"
          defaultChecked={flash?.values?.['user[terms_of_service]'] === '1'}
          error={fault('terms_of_service')}
          label={
            <>
              I accept the <a href="/terms_of_service">Terms of Service</a>
            </>
          }
        />
        <Button type="submit" look="primary" disabled={sending || (hydrated && !ready)} aria-describedby="match terms">
          Sign Up
        </Button>
      </form>
    </>
  )
}

function toSignUp(fields: Fields) {
  return {
    name: fields['user[name]'] ?? '',
    email: fields['user[email]'] ?? '',
    password: fields['user[password]'] ?? '',
    password_confirmation: fields['user[password_confirmation]'] ?? '',
    terms_of_service: fields['user[terms_of_service]'] === '1',
  }
}
