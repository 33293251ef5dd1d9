import { PASSWORD_HINT } from '../domain/user.ts'
import { Button } from '../ui/Button.tsx'
import { PasswordField } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { FormPage } from './account/FormPage.tsx'

type ResetPasswordProps = { token: string; csrfToken: string; flash: FlashMessage | null }

export function ResetPassword({ token, csrfToken, flash }: ResetPasswordProps) {
  const fault = (field: string) => (flash?.field === field ? flash.message : null)
  return (
    <FormPage title="Choose a new password" foot={<a href="/forgot_password">Get a new link</a>}>
      <FlashAlert flash={flash} />
      <form className="stack" method="post" action="/users/password" noValidate>
        <HiddenFields csrfToken={csrfToken} method="put" />
        <input
          type="hidden"
          name="user[reset_password_token]"
          value={flash?.values?.['user[reset_password_token]'] ?? token}
        />
        <PasswordField
          id="password"
          name="user[password]"
          label="New password"
          autoComplete="new-password"
          hint={`${PASSWORD_HINT} You'll be signed out everywhere.`}
          error={fault('password')}
        />
        <PasswordField
          id="password_confirmation"
          name="user[password_confirmation]"
          label="Confirm new password"
          autoComplete="new-password"
          error={fault('password_confirmation')}
        />
        <Button type="submit" look="primary">
          Change password
        </Button>
      </form>
    </FormPage>
  )
}
