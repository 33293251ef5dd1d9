import { useEffect, useRef } from 'react'
import { countdownText, TRIAL_LEVELS, trialLevel } from '../../domain/money/trial.ts'
import { Alert } from '../../ui/Alert.tsx'
import { announce } from '../announce.ts'
import { useTitleCountdown } from '../useTitleCountdown.ts'

type Props = {
  minutesLeft: number
  /** Whether a server is using them up. */
  counting: boolean
}

/** Counts down while a server runs. Screen readers don't hear the ticking, but hear when little is left. */
export function TrialBanner({ minutesLeft, counting }: Props) {
  const level = trialLevel(minutesLeft)
  const seconds = Math.round(minutesLeft * 60)
  const before = useRef(level)
  useEffect(() => {
    const { news } = TRIAL_LEVELS[level]
    if (before.current !== level && counting && news) announce(news)
    before.current = level
  }, [level, counting])
  useTitleCountdown(counting && (level === 'low' || level === 'last') ? seconds : null)
  return (
    <Alert kind={TRIAL_LEVELS[level].kind} quiet>
      <span className="trial">
        <span>
          <span>
            Free trial: <strong className="mono">{minutesLeft.toFixed(2)}</strong> minutes left.
            {minutesLeft > 0 && !counting ? ' Startup time doesn’t count.' : null}
          </span>{' '}
          {level === 'enough' ? null : <a href="/subscriptions">Choose a plan</a>}
        </span>
        {counting && minutesLeft > 0 ? <span className="mono">{countdownText(seconds)}</span> : null}
      </span>
    </Alert>
  )
}
