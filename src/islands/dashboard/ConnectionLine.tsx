import { runSeconds } from '../../domain/billing.ts'
import { formatUptime } from '../../domain/server.ts'
import type { Server } from '../../domain/wire.ts'
import type { Connection } from '../useJobsChannel.ts'

const WORDS: Record<Connection, string> = {
  connecting: 'Connecting to live updates…',
  live: 'Live',
  reconnecting: 'Reconnecting… showing the last known state',
}

/** The status line under the title: whether what is shown is live, and what runs. */
export function ConnectionLine({
  connection,
  servers,
  now,
}: {
  connection: Connection
  servers: Server[]
  now: number
}) {
  const running = servers.find((server) => server.active)
  return (
    <p className="status-line">
      <span className={`connection connection-${connection}`} role="status">
        {WORDS[connection]}
      </span>
      {running?.startedAt ? (
        <span className="mono">
          {running.instance_type} up {formatUptime(runSeconds(Date.parse(running.startedAt), now))}
        </span>
      ) : null}
    </p>
  )
}
