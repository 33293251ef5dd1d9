import { Alert } from '../../ui/Alert.tsx'
import { SignInNext, useSignInNext } from './SignInNext.tsx'

const SECONDS = 10

export function Confirmed() {
  const next = useSignInNext(SECONDS)
  return (
    <>
      <Alert kind="success" takesFocus>
        Your email address is confirmed. {next.staying ? null : `Taking you to the sign-in page in ${SECONDS} seconds.`}
      </Alert>
      <SignInNext {...next} />
    </>
  )
}
