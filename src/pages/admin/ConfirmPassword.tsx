import { Button } from '../../ui/Button.tsx'
import { FlashAlert, type FlashMessage } from '../../ui/FlashAlert.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { CurrentPassword } from '../account/CurrentPassword.tsx'
import { FactorField } from '../account/FactorField.tsx'
import { FormPage } from '../account/FormPage.tsx'

type Props = {
  csrfToken: string
  flash: FlashMessage | null
  to: string
  /** Where they may read without confirming; null: nowhere in the console. */
  back: string | null
  hasFactor: boolean
}

export function ConfirmPassword({ csrfToken, flash, to, back, hasFactor }: Props) {
  return (
    <FormPage
      title={hasFactor ? 'Confirm it’s you' : 'Confirm your password'}
      foot={<a href={back ?? '/dashboard'}>{back ? 'Back without changes' : 'Back to the dashboard'}</a>}
    >
      <FlashAlert flash={flash} />
      <p>
        The console shows and changes other people's accounts. You can make changes for 15 minutes, and read for 12
        hours.
      </p>
      <form className="stack" method="post" action="/admin/confirm" noValidate>
        <HiddenFields csrfToken={csrfToken} values={{ to }} />
        {hasFactor ? (
          <FactorField flash={flash} name="user[totp]" alone />
        ) : (
          <CurrentPassword flash={flash} name="user[current_password]" />
        )}
        <Button type="submit" look="primary">
          Confirm
        </Button>
      </form>
    </FormPage>
  )
}
