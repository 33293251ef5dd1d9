import { Button } from '../ui/Button.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { FactorField } from './account/FactorField.tsx'
import { FormPage } from './account/FormPage.tsx'

type SecondFactorProps = { challenge: string; csrfToken: string; flash: FlashMessage | null }

/** The second step of signing in. */
export function SecondFactor({ challenge, csrfToken, flash }: SecondFactorProps) {
  return (
    <FormPage title="Two-factor sign-in" foot={<a href="/sign_in">Start over</a>}>
      <FlashAlert flash={flash} />
      <p>Your password is right. Now enter the 6-digit code from your authenticator app.</p>
      <form className="stack" method="post" action="/users/sign_in/second_factor" noValidate>
        <HiddenFields csrfToken={csrfToken} values={{ challenge }} />
        <FactorField flash={flash} hint="Lost your phone? Enter one of your recovery codes." />
        <Button type="submit" look="primary">
          Sign In
        </Button>
      </form>
    </FormPage>
  )
}
