import { useCallback, useState } from 'react'
import { Alert } from '../../ui/Alert.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { useCountdown } from '../useCountdown.ts'

const SECONDS = 10

/** Moves on to the sign-in screen by itself, unless told to stay (WCAG 2.2.1). The ticking is not read out. */
export function Confirmed() {
  const [staying, setStaying] = useState(false)
  const leave = useCallback(() => location.assign('/sign_in'), [])
  const left = useCountdown(SECONDS, !staying, leave)
  return (
    <>
      <Alert kind="success" takesFocus>
        Your email address is confirmed.{' '}
        {staying ? null : `You will be taken to the sign-in screen in ${SECONDS} seconds.`}
      </Alert>
      {staying ? null : (
        <p className="hint" aria-hidden="true">
          Redirecting in <span className="mono">{left}</span> {left === 1 ? 'second' : 'seconds'}
        </p>
      )}
      <div className="row">
        <ButtonLink href="/sign_in" look="primary">
          {staying ? 'Sign In' : 'Go now'}
        </ButtonLink>
        {staying ? null : <Button onClick={() => setStaying(true)}>Stay here</Button>}
      </div>
    </>
  )
}
