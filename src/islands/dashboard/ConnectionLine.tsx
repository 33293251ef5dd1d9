import { runSeconds } from '../../domain/money/billing.ts'
import { formatUptime } from '../../domain/server.ts'
import type { Server } from '../../domain/wire.ts'
import type { Connection } from '../useJobsChannel.ts'

const WORDS: Record<Connection, string> = {
  connecting: 'Connecting to live updates…',
  live: 'Live',
  reconnecting: 'Reconnecting…',
  off: 'Live updates are off in this tab. Updating every 10 s.',
}

type Props = {
  connection: Connection
  /** When the data shown was last confirmed, in ms since 1970 by this machine's clock; 0 if never. */
  knownAt: number
  servers: Server[]
  now: number
}

/** The status line under the title: whether the data is live or how old it is, and what is running. */
export function ConnectionLine({ connection, knownAt, servers, now }: Props) {
  const running = servers.find((server) => server.active)
  return (
    <p className="status-line">
      <span>
        <span className={`connection connection-${connection}`} role="status">
          {WORDS[connection]}
        </span>
        {connection === 'reconnecting' && knownAt ? (
          <> last update {Math.max(0, Math.floor((Date.now() - knownAt) / 1000))} s ago</>
        ) : null}
      </span>
      {running?.startedAt ? (
        <span className="mono">
          {running.instance_type} up {formatUptime(runSeconds(Date.parse(running.startedAt), now))}
        </span>
      ) : null}
    </p>
  )
}
