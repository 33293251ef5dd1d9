import { instantText } from '../../domain/instant.ts'
import { EVENT_TITLES, shownAt } from '../../domain/run-timeline.ts'
import type { RunEvent } from '../../domain/wire/fleet.ts'
import { Card } from '../../ui/Card.tsx'
import { Time } from '../../ui/Time.tsx'
import { TimesText } from '../../ui/TimesText.tsx'

const BAD = new Set<RunEvent['what']>(['failed', 'place_refused'])

/** `showLocalTimes` shows the reader's day, and hides it if the previous line has the same. */
function Day({ at, hidden }: { at: string; hidden: boolean }) {
  return (
    <time dateTime={at} data-layout="day" data-once="day" hidden={hidden}>
      {instantText(at, false, 'day')}
    </time>
  )
}

/** What happened to a run, oldest first, for its page and the console. Names each day once. */
export function Timeline({ events }: { events: RunEvent[] }) {
  const times = events.map(shownAt)
  const dayOf = (i: number) => times[i]?.slice(0, 10)
  return (
    <Card title="What happened">
      <ol className="timeline">
        {events.map((event, i) => (
          <li key={`${event.at} ${i}`} data-bad={BAD.has(event.what) || undefined}>
            <span>
              <Day at={times[i] ?? ''} hidden={dayOf(i) === dayOf(i - 1)} />
              <Time at={times[i] ?? ''} layout="clock" />
            </span>
            <div>
              <strong>{EVENT_TITLES[event.what]}</strong>
              {event.detail ? (
                <p>
                  <TimesText>{event.detail}</TimesText>
                </p>
              ) : null}
            </div>
          </li>
        ))}
      </ol>
    </Card>
  )
}
