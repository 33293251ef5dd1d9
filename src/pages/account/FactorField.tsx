import { use } from 'react'
import { Field } from '../../ui/Field.tsx'
import type { FlashMessage } from '../../ui/FlashAlert.tsx'
import { PasskeyButton } from '../../ui/PasskeyButton.tsx'
import { HasPasskey } from './Username.tsx'

type Props = {
  flash: FlashMessage | null
  name?: string
  id?: string
  label?: string
  hint?: string
  /** Whether a passkey can answer as well, with what it must sign, if known. By default, whether the account has one. */
  passkey?: { options?: object } | null
  /** The form asks for nothing else, so a passkey's answer sends it. */
  alone?: boolean
}

/** Asks for a second factor. One field takes either kind of code, because they look different. */
export function FactorField({ flash, name = 'totp', id = 'totp', label = 'Code', hint = FACTOR_HINT, ...how }: Props) {
  const own: Props['passkey'] = use(HasPasskey) ? {} : null
  const { passkey = own, alone = false } = how
  return (
    <>
      {passkey ? (
        <PasskeyButton does={alone ? 'send' : 'fill'} name={name.replace('totp', 'passkey')} options={passkey.options}>
          Use your passkey
        </PasskeyButton>
      ) : null}
      <Field
        id={id}
        name={name}
        label={label}
        hint={passkey ? `${hint} Leave it empty if you use your passkey.` : hint}
        autoComplete="one-time-code"
        autoCapitalize="none"
        spellCheck={false}
        error={flash?.field === 'totp' ? flash.message : null}
        required={!passkey}
      />
    </>
  )
}

const FACTOR_HINT = 'From your authenticator app, or one of your recovery codes.'
