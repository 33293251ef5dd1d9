import { type InstantLayout, instantText, instantTitle } from '../domain/instant.ts'
import { useHydrated } from './useHydrated.ts'

type TimeProps = {
  /** ISO 8601; a bare date (YYYY-MM-DD) is a day of the UTC calendar, and is shown without a time. */
  at: string
  layout?: InstantLayout
}

/**
 * An instant: in UTC in the server's HTML, in the reader's zone once scripts run, and in UTC always in its title. Outside islands
 * `showLocalTimes` sees to the reader's zone.
 */
export function Time(props: TimeProps) {
  return <TimeIn {...props} local={useHydrated()} />
}

/** For a list of thousands, whose island knows for all of them. */
export function TimeIn({ at, layout = 'full', local }: TimeProps & { local: boolean }) {
  return (
    <time dateTime={at} data-layout={layout === 'full' ? undefined : layout} title={instantTitle(at)}>
      {instantText(at, local, layout)}
    </time>
  )
}
