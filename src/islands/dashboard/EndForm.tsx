import type { FormEvent, ReactNode } from 'react'
import { DAY_MS, HOUR_MS, MINUTE_MS, toIso } from '../../domain/instant.ts'
import { formatUptime } from '../../domain/server.ts'
import type { Server } from '../../domain/wire/fleet.ts'
import { Button } from '../../ui/Button.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { Time } from '../../ui/Time.tsx'
import { useHydrated } from '../../ui/useHydrated.ts'

const HALF_MS = 30 * MINUTE_MS

export type MoveEnd = (endsAt: string | null) => unknown

type Props = {
  server: Server
  now: number
  csrfToken: string
  onMove: MoveEnd
  /** When its trial ends at the latest; null outside one. */
  latest: number | null
}

/** When the server stops, and ways to move that. Without script, each is a plain form. */
export function EndForm({ server, now, csrfToken, onMove, latest }: Props) {
  const { ends_at } = server
  const end = ends_at ? Date.parse(ends_at) : null
  const later = (end ?? now) + HOUR_MS
  const form = { server, csrfToken, onMove }
  const may = (at: number) => latest === null || at <= latest
  return (
    <div className="run-end">
      {end && ends_at && may(end) ? (
        <p>
          Stops at <Time at={ends_at} layout={end - now < DAY_MS ? 'time' : 'full'} />, in {leftText(end - now)}
        </p>
      ) : (
        <p>{latest ? 'Stops when your free minutes are used up' : 'Runs until you stop it'}</p>
      )}
      <div className="row">
        {end || may(later) ? (
          <MoveForm {...form}>
            {end && may(end + HALF_MS) ? <To at={end + HALF_MS}>+30 min</To> : null}
            {may(later) ? <To at={later}>{end ? '+1 h' : 'Stop in 1 h'}</To> : null}
            {end ? <To at={null}>No end</To> : null}
          </MoveForm>
        ) : null}
        <details className="fold">
          <summary>Another time</summary>
          <MoveForm {...form}>
            <AtField end={end ?? latest ?? now + HOUR_MS} />
            <Button type="submit" small>
              Set
            </Button>
          </MoveForm>
        </details>
      </div>
    </div>
  )
}

/** A form whose buttons and field name the new end. */
export function MoveForm({
  server,
  csrfToken,
  onMove,
  children,
}: Pick<Props, 'server' | 'csrfToken' | 'onMove'> & { children: ReactNode }) {
  function send(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const { submitter } = event.nativeEvent as SubmitEvent
    const typed = new FormData(event.currentTarget).get('ends_at')
    const value = (submitter as HTMLButtonElement | null)?.value || (typed && toIso(Date.parse(String(typed))))
    void onMove(value || null)
  }
  return (
    <form className="row" method="post" action={`/api/v1/servers/${server.id}`} onSubmit={send}>
      <HiddenFields csrfToken={csrfToken} method="put" />
      {children}
    </form>
  )
}

/** A button that sets this end; null: none. */
export function To({ at, children }: { at: number | null; children: ReactNode }) {
  return (
    <Button type="submit" small name="ends_at" value={at === null ? '' : toIso(at)}>
      {children}
    </Button>
  )
}

/** In UTC, as the server reads it; in the reader's own zone once scripts run. */
function AtField({ end }: { end: number }) {
  const local = useHydrated()
  const ahead = local ? new Date(end).getTimezoneOffset() * MINUTE_MS : 0
  return (
    <label className="choice">
      {local ? 'Your time' : 'UTC'}
      <input
        key={String(local)}
        className="input"
        type="datetime-local"
        name="ends_at"
        required
        defaultValue={toIso(end - ahead).slice(0, 16)}
      />
    </label>
  )
}

/** `2h 59m`: to the nearest minute, because the page's clock may be a second off. */
function leftText(ms: number): string {
  return formatUptime(Math.max(1, Math.round(ms / MINUTE_MS)) * 60).replace(/ 0s$/, '')
}
