import { Button } from '../ui/Button.tsx'
import { PasswordField } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { FormPage } from './account/FormPage.tsx'

export function CloseAccount({ csrfToken, flash }: { csrfToken: string; flash: FlashMessage | null }) {
  return (
    <FormPage title="Close my account" foot={<a href="/account_overview">Keep my account</a>}>
      <FlashAlert flash={flash} />
      <p>
        Your running server is stopped, every device is signed out, and you cannot sign in any more. A plan ends without
        a refund. What you have used until now is billed at once, by mail. Billing records are kept. Your address can be
        used for a new account after 30 days.
      </p>
      <p>
        You may want to{' '}
        <a href="/api/v1/users/export" download>
          download your data
        </a>{' '}
        first.
      </p>
      <form className="stack" method="post" action="/users" noValidate>
        <HiddenFields csrfToken={csrfToken} method="delete" />
        <PasswordField
          id="current_password"
          name="user[current_password]"
          label="Current password"
          autoComplete="current-password"
          error={flash?.field === 'current_password' ? flash.message : null}
        />
        <Button type="submit" look="danger">
          Close my account
        </Button>
      </form>
    </FormPage>
  )
}
