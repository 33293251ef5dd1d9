import { countdownText } from '../../domain/money/trial.ts'
import type { LinePlace } from '../../domain/wire/fleet.ts'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { Time } from '../../ui/Time.tsx'
import { instead } from '../dashboard/ByForm.tsx'
import { useTitleCountdown } from '../useTitleCountdown.ts'

type Props = {
  line: LinePlace
  now: number
  chosen: Record<string, string>
  csrfToken: string
  onLeave: () => void
}

/** A place is theirs: we start it for them, or they start it before the time is up. */
export function Turn({ line, now, chosen, csrfToken, onLeave }: Props) {
  const until = line.held_until
  const seconds = until ? Math.max(0, Math.floor((Date.parse(until) - now) / 1000)) : null
  useTitleCountdown(seconds)
  if (line.starts_by_itself || until === null || seconds === null)
    return (
      <Card title="It’s your turn">
        <p>{line.starts_by_itself ? 'Your server is about to start.' : 'We’re reserving a server for you.'}</p>
      </Card>
    )
  return (
    <Card title="A server is yours">
      <div className="stack">
        <p className="line-place">
          <strong className="mono">{countdownText(seconds)}</strong>
          <span>
            Start it before <Time at={until} layout="time" />
            <span className="hint">Then it goes to the next in line. Holding it costs nothing.</span>
          </span>
        </p>
        <div className="row">
          <form method="post" action="/api/v1/aws/auto_cloud_start_request">
            <HiddenFields csrfToken={csrfToken} values={{ ...chosen, max_gpus: String(line.size) }} />
            <Button type="submit" look="primary">
              Start Server
            </Button>
          </form>
          <form method="post" action="/api/v1/line">
            <HiddenFields csrfToken={csrfToken} method="delete" />
            <Button type="submit" onClick={instead(onLeave)}>
              Let it go
            </Button>
          </form>
        </div>
      </div>
    </Card>
  )
}
