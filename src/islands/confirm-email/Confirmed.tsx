import { useCallback, useState } from 'react'
import { Alert } from '../../ui/Alert.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { useCountdown } from '../useCountdown.ts'

const SECONDS = 10

/** Goes to the sign-in screen unless the user chooses to stay (WCAG 2.2.1). Screen readers don't hear the ticking. */
export function Confirmed() {
  const [staying, setStaying] = useState(false)
  const leave = useCallback(() => location.assign('/sign_in'), [])
  const left = useCountdown(SECONDS, !staying, leave)
  return (
    <>
      <Alert kind="success" takesFocus>
        Your email address is confirmed. {staying ? null : `Taking you to the sign-in page in ${SECONDS} seconds.`}
      </Alert>
      {staying ? null : (
        <p className="hint" aria-hidden="true">
          Redirecting in <span className="mono">{left}</span> {left === 1 ? 'second' : 'seconds'}
        </p>
      )}
      <div className="row">
        <ButtonLink href="/sign_in" look="primary">
          {staying ? 'Sign In' : 'Sign in now'}
        </ButtonLink>
        {staying ? null : <Button onClick={() => setStaying(true)}>Stay here</Button>}
      </div>
    </>
  )
}
