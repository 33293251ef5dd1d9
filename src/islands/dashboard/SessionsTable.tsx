import { runSeconds } from '../../domain/money/billing.ts'
import { costText } from '../../domain/money/money.ts'
import { canStop, endedBecause, formatUptime, isLive, serverStatus, serverStatusColor } from '../../domain/server.ts'
import type { Summary } from '../../domain/wire/billing.ts'
import type { Server } from '../../domain/wire/fleet.ts'
import { worldText } from '../../domain/worlds.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/States.tsx'
import { TimeIn } from '../../ui/Time.tsx'
import { useHydrated } from '../../ui/useHydrated.ts'
import { Address } from './Address.tsx'
import { ASK_TO_STOP, instead } from './ByForm.tsx'
import { RunMeter } from './RunMeter.tsx'
import { SteadyButton } from './SteadyButton.tsx'

/** `summary` as of `now`: see `usageAt`. */
type Props = {
  servers: Server[]
  summary: Summary
  loading: boolean
  now: number
  /** Whether the live server's page answers. */
  reachable: boolean
  onStop: (server: Server) => void
}

/** Where space is tight, rows become cards that label each value with its column. */
export function SessionsTable({ servers, summary, loading, now, reachable, onStop }: Props) {
  const local = useHydrated()
  const hint = <span className="hint">{loading ? 'Refreshing…' : ''}</span>
  return (
    <Card title="Sessions" aside={hint}>
      {servers.length ? (
        <table className="table sessions">
          <caption className="visually-hidden">Sessions, newest first</caption>
          <thead>
            <tr>
              <th scope="col">Session ID</th>
              <th scope="col">IP Address</th>
              <th scope="col">Status</th>
              <th scope="col" className="num">
                Uptime
              </th>
              <th scope="col">Actions</th>
            </tr>
          </thead>
          <tbody>
            {servers.map((server) => (
              <tr key={server.id}>
                <th scope="row" data-label="Session ID">
                  <span className="session-id">
                    {server.name ? <bdi>{server.name}</bdi> : null}
                    <a href={`/servers/${server.id}`}>
                      <code>{server.id}</code>
                    </a>
                    {server.environment ? <small>{worldText(server)}</small> : null}
                    {dateOf(server, local)}
                  </span>
                </th>
                <td data-label="IP Address">
                  {canStop(server) ? <Address server={server} reachable={reachable} /> : '—'}
                </td>
                <td data-label="Status">{statusOf(server)}</td>
                <td data-label="Uptime" className="num">
                  <span className={server.active ? 'uptime' : 'session-id'}>
                    <span>{uptime(server, now)}</span>
                    {server.active ? (
                      <RunMeter server={server} summary={summary} now={now} />
                    ) : server.cost_dollars != null && server.billed_from ? (
                      <span className="run-meter">{costText(server.cost_dollars)}</span>
                    ) : null}
                  </span>
                </td>
                <td data-label="Actions">{actionsOf(server, onStop)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <EmptyState>No servers yet. Click "Start Server" to launch one.</EmptyState>
      )}
    </Card>
  )
}

/** When it started, or when it was requested if it never did. */
function dateOf({ startedAt, requested_at }: Server, local: boolean) {
  const at = startedAt ?? requested_at
  return at ? <TimeIn at={at} local={local} /> : null
}

/** The badge, and below it why the run ended. */
function statusOf(server: Server) {
  const status = serverStatus(server)
  const badge = <Badge color={serverStatusColor(status)}>{status}</Badge>
  const reason = server.error_message ?? endedBecause(server)
  if (!reason) return badge
  return (
    <span className="session-id">
      {badge}
      <small>{reason}</small>
    </span>
  )
}

/**
 * Stops an active run; the card above cancels a start. For a run that has ended, the screen shows nothing, but screen
 * readers find a disabled Stop, as the specification requires.
 */
function actionsOf(server: Server, onStop: Props['onStop']) {
  const open = canStop(server)
  const stop = (
    <SteadyButton
      {...(open && ASK_TO_STOP)}
      small
      look="danger"
      disabled={!(server.active && open)}
      aria-label={`Stop ${server.id}`}
      onClick={instead(() => onStop(server))}
    >
      Stop
    </SteadyButton>
  )
  return isLive(server) ? stop : <span className="visually-hidden">{stop}</span>
}

/** Whole seconds since the machine started running. The meter starts later, when the server answers. */
function uptime({ startedAt, end_time }: Server, now: number): string {
  if (!startedAt) return '—'
  return formatUptime(runSeconds(Date.parse(startedAt), end_time ? Date.parse(end_time) : now))
}
