import { runSeconds } from '../../domain/billing.ts'
import { canStop, formatUptime, serverStatus, serverStatusColor } from '../../domain/server.ts'
import type { Server, Summary } from '../../domain/wire.ts'
import { Badge } from '../../pages/parts/Badge.tsx'
import { Button } from '../../pages/parts/Button.tsx'
import { Card } from '../../pages/parts/Card.tsx'
import { DataTable } from '../../pages/parts/DataTable.tsx'
import { EmptyState } from '../../pages/parts/States.tsx'
import { Time } from '../../pages/parts/Time.tsx'
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
  const rows = servers.map((server) => {
    const status = serverStatus(server)
    return {
      id: server.id,
      cells: {
        id: (
          <span className="session-id">
            <code>{server.id}</code>
            {server.startedAt ? <Time at={server.startedAt} /> : null}
          </span>
        ),
        ip: <Address server={server} />,
        status: (
          <span className="session-id">
            <Badge colour={serverStatusColor(status)}>{status}</Badge>
            <small>{server.error_message}</small>
          </span>
        ),
        uptime: (
          <span className="uptime">
            <span className="mono">{uptime(server, now)}</span>
            <RunMeter server={server} summary={summary} now={now} />
          </span>
        ),
        actions: <Actions server={server} onStop={onStop} />,
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
function Actions({ server, onStop }: { server: Server; onStop: (server: Server) => void }) {
  const open = canStop(server)
  return (
    <span className="row">
      {server.pending && open ? (
        <Button small aria-label={`Cancel the start of ${server.id}`} onClick={() => onStop(server)}>
          Cancel
        </Button>
      ) : null}
      <Button
        small
        look="danger"
        disabled={!(server.active && open)}
        aria-label={`Stop ${server.id}`}
        onClick={() => onStop(server)}
      >
        Stop
      </Button>
    </span>
  )
}

/** The seconds that are billed, so that the row, the meter and the receipt say the same. */
function uptime({ startedAt, end_time }: Server, now: number): string {
  if (!startedAt) return '—'
  return formatUptime(runSeconds(Date.parse(startedAt), end_time ? Date.parse(end_time) : now))
}
