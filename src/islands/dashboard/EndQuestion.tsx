import { FIRST_STOP_AFTER } from '../../domain/ending.ts'
import { HOUR_MS, toIso } from '../../domain/instant.ts'
import { Alert } from '../../ui/Alert.tsx'
import { Button } from '../../ui/Button.tsx'
import { Time } from '../../ui/Time.tsx'
import { END_HOURS } from './EndChoice.tsx'
import { type EndForm, MoveForm } from './EndForm.tsx'

type Props = Pick<Parameters<typeof EndForm>[0], 'server' | 'now' | 'csrfToken' | 'onMove'>

/** After a purchase: the trial's form didn't ask when the server, which is still running, should stop. */
export function EndQuestion(props: Props) {
  const { server, now } = props
  return (
    <Alert kind="info" quiet>
      <div className="stack">
        <span>
          Your server is now on your plan. It stops at <Time at={server.ends_at ?? ''} layout="time" /> unless you
          choose otherwise.
        </span>
        <MoveForm {...props}>
          <label className="choice">
            When should it stop?
            <select className="input" name="ends_at" defaultValue={toIso(now + FIRST_STOP_AFTER * 1000)}>
              {END_HOURS.map((hours) => (
                <option key={hours} value={toIso(now + hours * HOUR_MS)}>
                  In {hours} h
                </option>
              ))}
              <option value="">When I stop it</option>
            </select>
          </label>
          <Button type="submit" small>
            Set
          </Button>
        </MoveForm>
      </div>
    </Alert>
  )
}
