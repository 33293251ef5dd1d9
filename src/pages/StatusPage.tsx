import { toIso } from '../domain/instant.ts'
import { formatUptime } from '../domain/server.ts'
import { type Incident, type IncidentKind, lostMs, percentUp, SILENT_MS, statusDays } from '../domain/status.ts'
import type { StatusView } from '../domain/views.ts'
import { type Column, DataTable } from '../ui/DataTable.tsx'
import { Time } from '../ui/Time.tsx'
import { DayStrip } from './status/DayStrip.tsx'

const NOW: Record<IncidentKind | 'up' | 'unknown', { title: string; text: string; color: 'green' | 'yellow' | 'red' }> =
  {
    up: { title: 'You can start servers', text: 'Everything works.', color: 'green' },
    full: {
      title: 'All servers are in use',
      text: 'You can start one as soon as someone stops theirs. Running servers are not affected.',
      color: 'yellow',
    },
    failing: {
      title: 'Servers are failing to start',
      text: "We're on it. A start that fails costs nothing. Running servers are not affected.",
      color: 'red',
    },
    down: { title: "We can't tell right now", text: "Our checks aren't running. We're on it.", color: 'red' },
    unknown: {
      title: "We can't tell right now",
      text: "We can't reach our database, so you can't start or stop servers. Running servers keep running.",
      color: 'red',
    },
  }

const PAST: Record<IncidentKind, string> = {
  full: 'All servers were in use',
  failing: 'Servers failed to start',
  down: 'The site was unavailable',
}

const MOST_LISTED = 20
const COLUMNS: Column[] = [
  { key: 'what', label: 'What', rowHeader: true },
  { key: 'from', label: 'From' },
  { key: 'until', label: 'Until' },
  { key: 'lasted', label: 'Lasted', numeric: true },
]

/** Whether people can start servers, since when, and the last 90 days. @param status null: the database doesn't answer */
export function StatusPage({ status, now }: { status: StatusView | null; now: number }) {
  const { title, text, color, since } = current(status, now)
  return (
    <div className="page status">
      <header className="status-head" data-tone={color}>
        <h1>{title}</h1>
        <p className="muted">
          {text}
          {since === null ? null : (
            <>
              {' '}
              Since <Time at={toIso(since)} />.
            </>
          )}
        </p>
      </header>
      {status?.firstAt ? <History {...status} firstAt={status.firstAt} now={now} /> : null}
      <p className="hint">
        We check every minute. Something else wrong? <a href="/contact_sales">Tell us</a>.
      </p>
    </div>
  )
}

function current(status: StatusView | null, now: number) {
  if (!status) return { ...NOW.unknown, since: null }
  const { firstAt, lastAt, incidents } = status
  if (lastAt === null || now - lastAt > SILENT_MS) return { ...NOW.down, since: lastAt }
  const open = incidents.filter(({ endedAt }) => endedAt === null)
  const worst = open.find(({ kind }) => kind === 'failing') ?? open[0]
  if (worst) return { ...NOW[worst.kind], since: worst.startedAt }
  return { ...NOW.up, since: Math.max(firstAt ?? 0, ...incidents.map(({ endedAt }) => endedAt ?? 0)) }
}

function History({ incidents, firstAt, now }: { incidents: Incident[]; firstAt: number; now: number }) {
  const days = statusDays(incidents, firstAt, now)
  const from = Math.max(firstAt, Date.parse(days[0]?.day ?? ''))
  const rows = incidents.slice(0, MOST_LISTED).map(({ kind, startedAt, endedAt }) => ({
    id: `${kind} ${startedAt}`,
    cells: {
      what: PAST[kind],
      from: <Time at={toIso(startedAt)} />,
      until: endedAt === null ? 'now' : <Time at={toIso(endedAt)} />,
      lasted: formatUptime(((endedAt ?? now) - startedAt) / 1000),
    },
  }))
  return (
    <>
      <section className="card stack" aria-labelledby="days">
        <div className="card-head">
          <h2 id="days">The last 90 days</h2>
          <span className="uptime">{`${percentUp(lostMs(incidents, from, now, now), now - from)}%`}</span>
        </div>
        <DayStrip days={days} />
      </section>
      <section className="card stack" aria-labelledby="interruptions">
        <h2 id="interruptions">Interruptions</h2>
        {rows.length ? (
          <DataTable caption="The latest interruptions" hideCaption columns={COLUMNS} rows={rows} />
        ) : (
          <p className="muted">None in the last 90 days.</p>
        )}
      </section>
    </>
  )
}
