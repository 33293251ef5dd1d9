import { CONFIRMED_NO_TRIAL } from '../../domain/user.ts'
import { Alert } from '../../ui/Alert.tsx'
import { SignInNext, useSignInNext } from './SignInNext.tsx'

const SECONDS = 10

export function Confirmed({ hasTrial }: { hasTrial: boolean }) {
  const next = useSignInNext(SECONDS)
  return (
    <>
      <Alert kind="success" takesFocus>
        {hasTrial ? 'Your email address is confirmed.' : CONFIRMED_NO_TRIAL}{' '}
        {next.staying ? null : `Taking you to the sign-in page in ${SECONDS} seconds.`}
      </Alert>
      <SignInNext {...next} />
    </>
  )
}
