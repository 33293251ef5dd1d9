import { useEffect, useRef } from 'react'
import { minutesText, TRIAL_LEVELS, trialLevel } from '../../domain/money/trial.ts'
import { Alert } from '../../ui/Alert.tsx'
import { announce } from '../announce.ts'
import { useTitleCountdown } from '../useTitleCountdown.ts'

const inMinutes = (seconds: number) => `${minutesText(Math.floor(seconds) / 60)} minutes`

type Props = {
  minutesLeft: number
  /** Whether a server is using them up. */
  counting: boolean
  /** In the server's card, it is a plain line until little is left. */
  inCard?: boolean
}

/** Counts down while a server runs. Screen readers don't hear the ticking, but hear when little is left. */
export function TrialBanner({ minutesLeft, counting, inCard = false }: Props) {
  const level = trialLevel(minutesLeft)
  const before = useRef(level)
  useEffect(() => {
    const { news } = TRIAL_LEVELS[level]
    if (before.current !== level && counting && news) announce(news)
    before.current = level
  }, [level, counting])
  useTitleCountdown(counting && (level === 'low' || level === 'last') ? minutesLeft * 60 : null, inMinutes)
  const left = (
    <>
      Free trial: <strong className="mono">{minutesText(minutesLeft)}</strong> minutes left.
    </>
  )
  if (inCard && level === 'enough') return <p>{left}</p>
  return (
    <Alert kind={TRIAL_LEVELS[level].kind} quiet>
      <span>
        {left}
        {minutesLeft > 0 && !counting ? ' Startup time doesn’t count.' : null}
      </span>{' '}
      {level === 'enough' ? null : <a href="/subscriptions">Choose a plan</a>}
    </Alert>
  )
}
