import { useCallback, useState } from 'react'
import { ButtonLink } from '../../ui/Button.tsx'
import { useCountdown } from '../useCountdown.ts'

/** Whether the user chose to stay (WCAG 2.2.1), and the seconds left until the sign-in screen if not. */
export function useSignInNext(seconds: number, counting = true) {
  const [staying, setStaying] = useState(false)
  const leave = useCallback(() => location.assign('/sign_in'), [])
  const left = useCountdown(seconds, counting && !staying, leave)
  return { staying, left, stay: () => setStaying(true) }
}

/** The one button, and a quiet way to stay. Screen readers don't hear the ticking. */
export function SignInNext({ staying, left, stay }: ReturnType<typeof useSignInNext>) {
  return (
    <>
      <ButtonLink href="/sign_in" look="primary">
        {staying ? 'Sign In' : 'Sign in now'}
      </ButtonLink>
      {staying ? null : (
        <p className="hint">
          <span aria-hidden="true">
            Redirecting in <span className="mono">{left}</span> {left === 1 ? 'second' : 'seconds'}
          </span>
          {' · '}
          <button type="button" className="btn-text" onClick={stay}>
            Stay here
          </button>
        </p>
      )}
    </>
  )
}
