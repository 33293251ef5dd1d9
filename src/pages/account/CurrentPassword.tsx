import { use } from 'react'
import { PasswordField } from '../../ui/Field.tsx'
import type { FlashMessage } from '../../ui/FlashAlert.tsx'
import { FactorField } from './FactorField.tsx'
import { HasFactor, Username } from './Username.tsx'

type Props = {
  flash: FlashMessage | null
  name: string
  /** Distinguishes the fields if a page asks twice. */
  of?: string
}

/** Asks the signed-in person for their password again, and for their second factor. */
export function CurrentPassword({ flash, name, of = '' }: Props) {
  return (
    <>
      <Username />
      <PasswordField
        id={`${of}current_password`}
        name={name}
        label="Current password"
        autoComplete="current-password"
        error={flash?.field === 'current_password' ? flash.message : null}
        required
      />
      {use(HasFactor) ? (
        <FactorField flash={flash} name={name.replace('current_password', 'totp')} id={`${of}totp`} />
      ) : null}
    </>
  )
}
