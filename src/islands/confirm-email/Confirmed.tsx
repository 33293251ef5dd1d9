import { CONFIRMED_NO_TRIAL, CONFIRMED_SIGNED_IN, CONFIRMED_SIGNED_IN_NO_TRIAL } from '../../domain/user.ts'
import { Alert } from '../../ui/Alert.tsx'
import { SignInNext, useSignInNext } from './SignInNext.tsx'

const SECONDS = 10

/** `signed_in`: the sign-in page leads on to the dashboard. */
export type Confirmation = { trial: boolean; signed_in: boolean }

export function Confirmed({ trial, signed_in }: Confirmation) {
  const next = useSignInNext(SECONDS)
  const [yes, no] = signed_in
    ? [CONFIRMED_SIGNED_IN, CONFIRMED_SIGNED_IN_NO_TRIAL]
    : ['Your email address is confirmed.', CONFIRMED_NO_TRIAL]
  return (
    <>
      <Alert kind="success" takesFocus>
        {trial ? yes : no}{' '}
        {next.staying
          ? null
          : `Taking you to ${signed_in ? 'the dashboard' : 'the sign-in page'} in ${SECONDS} seconds.`}
      </Alert>
      <SignInNext {...next} isIn={signed_in} />
    </>
  )
}
