import { runSeconds } from '../../domain/billing.ts'
import { canStop, formatUptime, serverStatus, serverStatusColor } from '../../domain/server.ts'
import type { Server, Summary } from '../../domain/wire.ts'
import { Badge } from '../../pages/parts/Badge.tsx'
import { Button } from '../../pages/parts/Button.tsx'
import { Card } from '../../pages/parts/Card.tsx'
import { DataTable } from '../../pages/parts/DataTable.tsx'
import { EmptyState } from '../../pages/parts/States.tsx'
import { TimeIn } from '../../pages/parts/Time.tsx'
import { useHydrated } from '../useHydrated.ts'
import { Address } from './Address.tsx'
import { RunMeter } from './RunMeter.tsx'

const COLUMNS = [
  { key: 'id', label: 'Session ID', rowHeader: true },
  { key: 'ip', label: 'IP Address' },
  { key: 'status', label: 'Status' },
  { key: 'uptime', label: 'Uptime', numeric: true },
  { key: 'actions', label: 'Actions' },
]

/** `summary` as of `now`: see `usageAt`. */
type Props = { servers: Server[]; summary: Summary; loading: boolean; now: number; onStop: (server: Server) => void }

export function SessionsTable({ servers, summary, loading, now, onStop }: Props) {
  const local = useHydrated()
  const rows = servers.map((server) => {
    const status = serverStatus(server)
    const badge = <Badge colour={serverStatusColor(status)}>{status}</Badge>
    const ran = <span className="mono">{uptime(server, now)}</span>
    return {
      id: server.id,
      cells: {
        id: (
          <span className="session-id">
            <code>{server.id}</code>
            {server.startedAt ? <TimeIn at={server.startedAt} local={local} /> : null}
          </span>
        ),
        ip: canStop(server) ? <Address server={server} /> : '—',
        status: server.error_message ? (
          <span className="session-id">
            {badge}
            <small>{server.error_message}</small>
          </span>
        ) : (
          badge
        ),
        uptime: server.active ? (
          <span className="uptime">
            {ran}
            <RunMeter server={server} summary={summary} now={now} />
          </span>
        ) : (
          ran
        ),
        actions: actionsOf(server, onStop),
      },
    }
  })
  const hint = <span className="hint">{loading ? 'Refreshing…' : ''}</span>
  return (
    <Card title="Sessions" aside={hint}>
      {servers.length ? (
        <DataTable caption="Sessions, newest first" hideCaption columns={COLUMNS} rows={rows} />
      ) : (
        <EmptyState>No servers yet. Click "Start Server" to launch one.</EmptyState>
      )}
    </Card>
  )
}

/** Stop is for an active session; a start that is under way is cancelled. */
function actionsOf(server: Server, onStop: Props['onStop']) {
  const open = canStop(server)
  const stop = (
    <Button
      small
      look="danger"
      disabled={!(server.active && open)}
      aria-label={`Stop ${server.id}`}
      onClick={() => onStop(server)}
    >
      Stop
    </Button>
  )
  if (!server.pending || !open) return stop
  return (
    <span className="row">
      <Button small aria-label={`Cancel the start of ${server.id}`} onClick={() => onStop(server)}>
        Cancel
      </Button>
      {stop}
    </span>
  )
}

/** The seconds that are billed, so that the row, the meter and the receipt say the same. */
function uptime({ startedAt, end_time }: Server, now: number): string {
  if (!startedAt) return '—'
  return formatUptime(runSeconds(Date.parse(startedAt), end_time ? Date.parse(end_time) : now))
}
