import { Button } from '../../ui/Button.tsx'
import { FlashAlert, type FlashMessage } from '../../ui/FlashAlert.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { CurrentPassword } from '../account/CurrentPassword.tsx'
import { FormPage } from '../account/FormPage.tsx'

type Props = { csrfToken: string; flash: FlashMessage | null; to: string }

export function ConfirmPassword({ csrfToken, flash, to }: Props) {
  return (
    <FormPage title="Confirm your password" foot={<a href={to}>Back without changes</a>}>
      <FlashAlert flash={flash} />
      <p>What you do in the console changes other people's accounts. We'll ask again in 15 minutes.</p>
      <form className="stack" method="post" action="/admin/confirm" noValidate>
        <HiddenFields csrfToken={csrfToken} values={{ to }} />
        <CurrentPassword flash={flash} name="user[current_password]" />
        <Button type="submit" look="primary">
          Confirm
        </Button>
      </form>
    </FormPage>
  )
}
