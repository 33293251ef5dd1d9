import { FormPage } from './account/FormPage.tsx'
import { Button } from './parts/Button.tsx'
import { Field } from './parts/Field.tsx'
import { FlashAlert, type FlashMessage } from './parts/FlashAlert.tsx'
import { HiddenFields } from './parts/HiddenFields.tsx'

export function ForgottenPassword({ csrfToken, flash }: { csrfToken: string; flash: FlashMessage | null }) {
  return (
    <FormPage title="Forgotten password" foot={<a href="/sign_in">Back to Sign In</a>}>
      <FlashAlert flash={flash} />
      <p>Tell us the address of your account. We mail you a link that works once, within an hour.</p>
      <form className="stack" method="post" action="/users/password" noValidate>
        <HiddenFields csrfToken={csrfToken} />
        <Field
          id="email"
          name="user[email]"
          label="Email"
          type="email"
          autoComplete="username"
          defaultValue={flash?.values?.['user[email]']}
        />
        <Button type="submit" look="primary">
          Send the link
        </Button>
      </form>
    </FormPage>
  )
}
