import { PASSWORD_HINT, RESET_FAILED } from '../domain/user.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button } from '../ui/Button.tsx'
import { PasswordField } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { FormPage } from './account/FormPage.tsx'
import { Username } from './account/Username.tsx'
import { LinkForm } from './ForgotPassword.tsx'

type ResetPasswordProps = {
  /** Null if the link is dead. */
  token: string | null
  csrfToken: string
  flash: FlashMessage | null
  /** The address that the link was sent to. */
  email: string
}

export function ResetPassword({ token, csrfToken, flash, email }: ResetPasswordProps) {
  if (token === null) return <DeadLink csrfToken={csrfToken} email={email} />
  const fault = (field: string) => (flash?.field === field ? flash.message : null)
  return (
    <FormPage title="Choose a new password" foot={<a href="/forgot_password">Get a new link</a>}>
      <FlashAlert flash={flash} />
      <form className="stack" method="post" action="/users/password" noValidate>
        <HiddenFields csrfToken={csrfToken} method="put" values={{ 'user[reset_password_token]': token }} />
        <Username email={email} />
        <PasswordField
          id="password"
          name="user[password]"
          label="New password"
          autoComplete="new-password"
          hint={`${PASSWORD_HINT} You'll be signed out everywhere.`}
          error={fault('password')}
          required
        />
        <PasswordField
          id="password_confirmation"
          name="user[password_confirmation]"
          label="Confirm new password"
          autoComplete="new-password"
          error={fault('password_confirmation')}
          required
        />
        <Button type="submit" look="primary">
          Change password
        </Button>
      </form>
    </FormPage>
  )
}

/** Tells people before they make up a password. */
function DeadLink({ csrfToken, email }: { csrfToken: string; email: string }) {
  return (
    <FormPage title="Choose a new password" foot={<a href="/sign_in">Back to Sign In</a>}>
      <Alert kind="danger" takesFocus>
        {RESET_FAILED} Links work once and expire after an hour. You can request a new one below:
      </Alert>
      <LinkForm csrfToken={csrfToken} email={email} />
    </FormPage>
  )
}
