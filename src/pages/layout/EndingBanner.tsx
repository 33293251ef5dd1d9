import { addedText } from '../../domain/ending.ts'
import { toIso } from '../../domain/instant.ts'
import { countdownText, minutesText } from '../../domain/money/trial.ts'
import { Alert } from '../../ui/Alert.tsx'
import { Button } from '../../ui/Button.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'

export type Ending = {
  runId: string
  now: number
  end: number
  /** The end after one more click; null if it can't move. */
  next: number | null
  isOwn: boolean
}

/** On every page of a person whose server stops in a few minutes. The script counts down. */
export function EndingBanner({ ending, csrfToken }: { ending: Ending; csrfToken: string | null }) {
  const { runId, now, end, next, isOwn } = ending
  const seconds = Math.max(0, Math.round((end - now) / 1000))
  return (
    <div className="page page-flash no-print">
      <Alert kind="warning" quiet>
        <div className="row">
          <span>
            <a href={`/servers/${runId}`}>Your server</a> stops in{' '}
            <strong className="mono" data-countdown={toIso(end)}>
              {isOwn ? countdownText(seconds) : minutesText(seconds / 60)}
            </strong>
            {isOwn ? null : ' minutes'}. Its disk is then erased.
          </span>
          {next !== null && next > end ? (
            <form method="post" action={`/api/v1/servers/${runId}`}>
              <HiddenFields csrfToken={csrfToken} method="put" />
              <Button type="submit" small name="ends_at" value={toIso(next)}>
                Add {addedText(next - end)}
              </Button>
            </form>
          ) : null}
          {isOwn ? null : <a href="/subscriptions">Choose a plan to keep it</a>}
        </div>
      </Alert>
    </div>
  )
}
