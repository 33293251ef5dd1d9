import { directionOf } from '../domain/person.ts'
import { profileForm } from '../domain/user.ts'
import type { User } from '../domain/wire/accounts.ts'
import { Button } from '../ui/Button.tsx'
import { Field, PasswordField } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { PasskeyButton } from '../ui/PasskeyButton.tsx'
import { profileFailure, profileSuccess } from './account-replies.ts'
import { watchEdits } from './edits.ts'
import { request } from './request.ts'
import { useForm } from './useForm.ts'

export type ProfileFormProps = {
  user: User
  hasFactor: boolean
  hasPasskey: boolean
  csrfToken: string
  flash: FlashMessage | null
}

export function ProfileForm({ user, hasFactor, hasPasskey, csrfToken, flash }: ProfileFormProps) {
  const { form, field, password, busy, said } = useForm({
    rules: profileForm,
    flash,
    guard: watchEdits,
    async send(profile, element) {
      const { passkey } = profile as { passkey?: string }
      const proven = { ...profile, passkey: passkey ? JSON.parse(passkey) : null }
      const reply = await request<{ user?: User }>('PUT', '/users', { user: proven })
      const failure = profileFailure(reply)
      if (failure !== null) return { kind: 'danger', message: failure }
      forgetPasswords(element)
      showName(reply.body.user)
      return { kind: 'success', message: profileSuccess(reply) }
    },
  })
  const name = field('name')

  return (
    <>
      <FlashAlert key={said.nth} flash={said.flash} />
      <form {...form} className="stack" method="post" action="/users">
        <HiddenFields csrfToken={csrfToken} method="put" />
        <Field
          {...name}
          label="Name"
          autoComplete="name"
          dir="auto"
          defaultValue={name.defaultValue ?? user.name}
          required
        />
        <Field id="email" name="email" label="Email" type="email" autoComplete="username" value={user.email} readOnly />
        {/* Opens if something in it is wrong. A link to a field in it also opens it. */}
        <details className="fold" open={/password|totp/.test(said.flash?.field ?? '')}>
          <summary>Change password (optional)</summary>
          <div className="stack">
            <PasswordField {...password('current_password')} label="Current password" autoComplete="current-password" />
            <PasswordField {...password('password')} label="New password" autoComplete="new-password" />
            <PasswordField
              {...password('password_confirmation')}
              label="Confirm new password"
              autoComplete="new-password"
            />
            {hasPasskey ? (
              <PasskeyButton does="fill" name="user[passkey]">
                Use your passkey
              </PasskeyButton>
            ) : null}
            {hasFactor ? (
              <Field
                name="user[totp]"
                id="totp"
                label="Code"
                error={said.flash?.field === 'totp' ? said.flash.message : null}
                hint="From your authenticator app, or one of your recovery codes."
                autoComplete="one-time-code"
                autoCapitalize="none"
                spellCheck={false}
              />
            ) : null}
          </div>
        </details>
        <Button type="submit" look="primary" disabled={busy}>
          Save changes
        </Button>
      </form>
    </>
  )
}

/** By name, because an input that shows its password has type text. */
function forgetPasswords(form: HTMLFormElement): void {
  for (const input of form.querySelectorAll<HTMLInputElement>(
    'input[name*=password], input[name*=totp], input[name*=passkey]',
  ))
    input.value = ''
}

/** The top bar is not an island: it still greets with the name from when the server rendered the page. */
function showName(user: User | undefined): void {
  const greeting = document.querySelector<HTMLElement>('.menu-button span')
  if (!greeting || !user) return
  greeting.textContent = `Hi ${user.name}`
  greeting.dir = directionOf(user.name)
}
