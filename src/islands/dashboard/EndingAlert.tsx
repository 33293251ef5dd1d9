import { useEffect } from 'react'
import { HOUR_MS } from '../../domain/instant.ts'
import { countdownText } from '../../domain/money/trial.ts'
import { Alert } from '../../ui/Alert.tsx'
import { announce } from '../announce.ts'
import { useTitleCountdown } from '../useTitleCountdown.ts'
import { type EndForm, MoveForm, To } from './EndForm.tsx'

/** Counts down, in the tab's title as well, with one click for another hour. Screen readers hear it once. */
export function EndingAlert(props: Parameters<typeof EndForm>[0]) {
  const end = Date.parse(props.server.ends_at ?? '')
  const seconds = Math.max(0, Math.round((end - props.now) / 1000))
  useTitleCountdown(seconds)
  useEffect(() => announce('Your server stops in less than 10 minutes.'), [end])
  return (
    <Alert kind="warning" quiet>
      <div className="row">
        <span>
          Your server stops in <strong className="mono">{countdownText(seconds)}</strong>. Its disk is then erased.
        </span>
        {props.latest === null || end + HOUR_MS <= props.latest ? (
          <MoveForm {...props}>
            <To at={end + HOUR_MS}>Add an hour</To>
          </MoveForm>
        ) : null}
      </div>
    </Alert>
  )
}
