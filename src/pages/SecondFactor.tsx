import type { FactorMethod } from '../domain/factor.ts'
import { Button } from '../ui/Button.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { FactorField } from './account/FactorField.tsx'
import { FormPage } from './account/FormPage.tsx'

type SecondFactorProps = {
  challenge: string
  methods: FactorMethod[]
  /** What a passkey must sign, if they have one. */
  passkey?: object
  csrfToken: string
  flash: FlashMessage | null
}

/** The second step of signing in. */
export function SecondFactor({ challenge, methods, passkey, csrfToken, flash }: SecondFactorProps) {
  const has = (method: FactorMethod) => methods.includes(method)
  const field = has('totp')
    ? { hint: 'Lost your phone? Enter one of your recovery codes.' }
    : { label: 'Recovery code', hint: 'You got ten of them with your passkey.' }
  return (
    <FormPage title="Two-factor sign-in" foot={<a href="/sign_in">Start over</a>}>
      <FlashAlert flash={flash} />
      <p>
        Your password is right.{' '}
        {!has('passkey')
          ? 'Now enter the 6-digit code from your authenticator app.'
          : has('totp')
            ? 'Now use your passkey, or enter the 6-digit code from your authenticator app.'
            : 'Now use your passkey.'}
      </p>
      <form className="stack" method="post" action="/users/sign_in/second_factor" noValidate>
        <HiddenFields csrfToken={csrfToken} values={{ challenge }} />
        <FactorField flash={flash} {...field} passkey={passkey ? { options: passkey } : null} alone />
        <Button type="submit" look="primary">
          Sign In
        </Button>
      </form>
    </FormPage>
  )
}
