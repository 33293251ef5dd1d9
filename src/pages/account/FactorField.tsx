import { Field } from '../../ui/Field.tsx'
import type { FlashMessage } from '../../ui/FlashAlert.tsx'

type Props = { flash: FlashMessage | null; name?: string; id?: string; hint?: string }

/** Asks for a second factor. One field takes either kind of code: their forms differ. */
export function FactorField({ flash, name = 'totp', id = 'totp', hint = FACTOR_HINT }: Props) {
  return (
    <Field
      id={id}
      name={name}
      label="Code"
      hint={hint}
      autoComplete="one-time-code"
      autoCapitalize="none"
      spellCheck={false}
      error={flash?.field === 'totp' ? flash.message : null}
      required
    />
  )
}

const FACTOR_HINT = 'From your authenticator app, or one of your recovery codes.'
