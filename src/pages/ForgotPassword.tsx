import { Button } from '../ui/Button.tsx'
import { Field } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { FormPage } from './account/FormPage.tsx'

export function ForgotPassword({ csrfToken, flash }: { csrfToken: string; flash: FlashMessage | null }) {
  return (
    <FormPage title="Reset your password" foot={<a href="/sign_in">Back to Sign In</a>}>
      <FlashAlert flash={flash} />
      <p>Enter your email and we'll send you a reset link. It works once and expires in an hour.</p>
      <LinkForm csrfToken={csrfToken} email={flash?.values?.['user[email]']} />
    </FormPage>
  )
}

/** Requests a reset link, for this address if we know it. */
export function LinkForm({ csrfToken, email }: { csrfToken: string; email: string | undefined }) {
  return (
    <form className="stack" method="post" action="/users/password" noValidate>
      <HiddenFields csrfToken={csrfToken} />
      <Field
        id="email"
        name="user[email]"
        label="Email"
        type="email"
        autoComplete="username"
        defaultValue={email}
        required
      />
      <Button type="submit" look="primary">
        Send link
      </Button>
    </form>
  )
}
