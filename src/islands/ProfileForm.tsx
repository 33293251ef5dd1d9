import { type FormEvent, useState } from 'react'
import { checkForm } from '../domain/form.ts'
import { directionOf } from '../domain/person.ts'
import { profileForm } from '../domain/user.ts'
import type { User } from '../domain/wire.ts'
import { Button } from '../ui/Button.tsx'
import { Field, PasswordField } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { useHydrated } from '../ui/useHydrated.ts'
import { profileFailure, profileSuccess } from './account-replies.ts'
import { request } from './request.ts'
import { type Fields, useFields } from './useFields.ts'

export type ProfileFormProps = { user: User; csrfToken: string; flash: FlashMessage | null }

const PASSWORDS = [
  { field: 'current_password', label: 'Current password', autoComplete: 'current-password' },
  { field: 'password', label: 'New password', autoComplete: 'new-password' },
  { field: 'password_confirmation', label: 'Confirm new password', autoComplete: 'new-password' },
] as const

export function ProfileForm({ user, csrfToken, flash }: ProfileFormProps) {
  const { form, read } = useFields()
  const hydrated = useHydrated()
  const [shown, setShown] = useState(false)
  const [saving, setSaving] = useState(false)
  const [alert, setAlert] = useState({ flash, key: 0 })
  const fault = (field: string) => (alert.flash?.field === field ? alert.flash.message : null)
  const say = (next: FlashMessage) => setAlert({ flash: next, key: alert.key + 1 })

  async function submit(event: FormEvent) {
    event.preventDefault()
    const fields = toProfile(read())
    const checked = checkForm(profileForm, fields)
    if (!checked.ok) return say({ kind: 'danger', ...checked.faults[0] })
    setSaving(true)
    const reply = await request<{ user?: User }>('PUT', '/users', { user: fields })
    setSaving(false)
    const failure = profileFailure(reply)
    if (failure !== null) return say({ kind: 'danger', message: failure })
    say({ kind: 'success', message: profileSuccess(reply) })
    forgetPasswords(form.current)
    showName(reply.body.user)
  }

  return (
    <>
      <FlashAlert key={alert.key} flash={alert.flash} />
      <form ref={form} className="stack" method="post" action="/users" noValidate onSubmit={submit}>
        <HiddenFields csrfToken={csrfToken} method="put" />
        <Field
          id="name"
          name="user[name]"
          label="Name"
          autoComplete="name"
          defaultValue={flash?.values?.['user[name]'] ?? user.name}
          error={fault('name')}
        />
        <Field id="email" name="email" label="Email" type="email" autoComplete="username" value={user.email} readOnly />
        <fieldset className="stack">
          <legend>Change password (optional)</legend>
          {PASSWORDS.map(({ field, label, autoComplete }) => (
            <PasswordField
              key={field}
              id={field}
              name={`user[${field}]`}
              label={label}
              autoComplete={autoComplete}
              error={fault(field)}
              {...(hydrated ? { onToggle: () => setShown(!shown), shown } : {})}
            />
          ))}
        </fieldset>
        <Button type="submit" look="primary" disabled={saving}>
          Save changes
        </Button>
      </form>
    </>
  )
}

function toProfile(fields: Fields) {
  return {
    name: fields['user[name]'] ?? '',
    current_password: fields['user[current_password]'] ?? '',
    password: fields['user[password]'] ?? '',
    password_confirmation: fields['user[password_confirmation]'] ?? '',
  }
}

function forgetPasswords(form: HTMLFormElement | null): void {
  for (const { field } of PASSWORDS) {
    const input = form?.elements.namedItem(`user[${field}]`)
    if (input instanceof HTMLInputElement) input.value = ''
  }
}

/** The top bar is no island: it greets by the name that the server knew when it made the page. */
function showName(user: User | undefined): void {
  const greeting = document.querySelector<HTMLElement>('.menu-button span')
  if (!greeting || !user) return
  greeting.textContent = `Hi ${user.name}`
  greeting.dir = directionOf(user.name)
}
