import { type InstantLayout, instantText, instantTitle } from '../domain/instant.ts'
import { useHydrated } from './useHydrated.ts'

type TimeProps = {
  /** ISO 8601; a bare date (YYYY-MM-DD) is a UTC calendar day, shown without a time. */
  at: string
  layout?: InstantLayout
}

/**
 * An instant: in UTC in the server's HTML and always in its title, in the reader's zone once scripts run. Outside
 * islands, `showLocalTimes` switches the zone.
 */
export function Time(props: TimeProps) {
  return <TimeIn {...props} local={useHydrated()} />
}

/** For lists of thousands: their island passes `local` once for all. */
export function TimeIn({ at, layout = 'full', local }: TimeProps & { local: boolean }) {
  return (
    <time dateTime={at} data-layout={layout === 'full' ? undefined : layout} title={instantTitle(at)}>
      {instantText(at, local, layout)}
    </time>
  )
}
