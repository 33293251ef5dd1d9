import { EVENT_TITLES } from '../../domain/run-timeline.ts'
import type { RunEvent } from '../../domain/wire.ts'
import { Card } from '../../ui/Card.tsx'
import { Time } from '../../ui/Time.tsx'

const BAD = new Set<RunEvent['what']>(['failed', 'place_refused'])

/** What happened to a run, oldest first: on its page and in the console. */
export function Timeline({ events }: { events: RunEvent[] }) {
  return (
    <Card title="What happened">
      <ol className="timeline">
        {events.map((event, i) => (
          <li key={`${event.at} ${i}`} data-bad={BAD.has(event.what) || undefined}>
            <span>
              {event.at.slice(0, 10) === events[i - 1]?.at.slice(0, 10) ? null : <Time at={event.at.slice(0, 10)} />}
              <Time at={event.at} layout="clock" />
            </span>
            <div>
              <strong>{EVENT_TITLES[event.what]}</strong>
              {event.detail ? <p>{event.detail}</p> : null}
            </div>
          </li>
        ))}
      </ol>
    </Card>
  )
}
