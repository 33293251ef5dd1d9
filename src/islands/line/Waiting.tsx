import type { LinePlace } from '../../domain/wire/fleet.ts'
import { worldText } from '../../domain/worlds.ts'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { useHydrated } from '../../ui/useHydrated.ts'
import { instead } from '../dashboard/ByForm.tsx'
import type { JoinChoice } from './JoinForm.tsx'
import { WhenItsTime } from './WhenItsTime.tsx'

type Props = {
  line: LinePlace
  csrfToken: string
  chosen: Record<string, string>
  onJoin: (choice: JoinChoice) => void
  onLeave: () => void
}

/** More wouldn't fit side by side on a phone. */
const MOST_SHOWN = 12

/** Their position, how long it takes, and what happens then. */
export function Waiting({ line, csrfToken, chosen, onJoin, onLeave }: Props) {
  const hydrated = useHydrated()
  const { position, size, estimate_seconds: estimate, starts_by_itself } = line
  const world = worldText(chosen)
  const shown = Math.min(position, MOST_SHOWN)
  return (
    <Card title="Your place in line">
      <div className="stack">
        <p className="line-place">
          <strong className="mono">{position}</strong>
          <span>
            {position === 1
              ? 'You’re next'
              : `${position - 1} ${position === 2 ? 'person is' : 'people are'} ahead of you`}
            <span className="hint">
              for {world ? `${world} on` : 'a machine with'} {size} × L4
            </span>
          </span>
        </p>
        <ol className="line-steps" aria-hidden="true">
          {Array.from({ length: shown }, (_, i) => (
            <li key={shown - i} className={i === shown - 1 ? 'you' : undefined} />
          ))}
        </ol>
        <p>
          {estimate ? (
            <>
              Half of the people here waited at most <strong>{aboutText(estimate.p50)}</strong>, and nine in ten at most{' '}
              <strong>{aboutText(estimate.p90)}</strong>. <span className="hint">From the last 30 days</span>
            </>
          ) : (
            'We don’t know yet how long this takes: too few people have waited here.'
          )}
        </p>
        <form className="stack" method="post" action="/api/v1/line">
          <HiddenFields csrfToken={csrfToken} values={{ ...chosen, max_gpus: String(size) }} />
          <WhenItsTime
            key={String(starts_by_itself)}
            start={starts_by_itself}
            onChange={(start) => onJoin({ start, maxGpus: size })}
          />
          {hydrated ? null : <Button type="submit">Save</Button>}
        </form>
        <form method="post" action="/api/v1/line">
          <HiddenFields csrfToken={csrfToken} method="delete" />
          <Button type="submit" onClick={instead(onLeave)}>
            Leave the line
          </Button>
        </form>
      </div>
    </Card>
  )
}

/** Rounded up, because nobody plans by the second: `40 s`, `12 min`, `2 h 30 min`. */
function aboutText(seconds: number): string {
  if (seconds < 60) return `${Math.max(10, Math.ceil(seconds / 10) * 10)} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const tens = Math.ceil(minutes / 10) * 10
  return `${Math.floor(tens / 60)} h${tens % 60 ? ` ${tens % 60} min` : ''}`
}
