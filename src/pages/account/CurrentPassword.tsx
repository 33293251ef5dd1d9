import { PasswordField } from '../../ui/Field.tsx'
import type { FlashMessage } from '../../ui/FlashAlert.tsx'
import { Username } from './Username.tsx'

/** Asks who is signed in for their password again. */
export function CurrentPassword({ flash, name }: { flash: FlashMessage | null; name: string }) {
  return (
    <>
      <Username />
      <PasswordField
        id="current_password"
        name={name}
        label="Current password"
        autoComplete="current-password"
        error={flash?.field === 'current_password' ? flash.message : null}
        required
      />
    </>
  )
}
