import type { Connection } from '../jobs-channel.ts'

const WORDS: Record<Connection, string> = {
  connecting: 'Connecting to live updates…',
  live: 'Live',
  reconnecting: 'Reconnecting…',
  blocked: 'Live updates are blocked on your network. Checking every few seconds instead.',
  off: 'Live updates are off in this tab. Updating every 10 s.',
}

type Props = {
  connection: Connection
  /** When the data shown was last confirmed, in ms since 1970 by this machine's clock; 0 if never. */
  knownAt: number
}

/** The status line under the title: whether the data is live, or how old it is. */
export function ConnectionLine({ connection, knownAt }: Props) {
  return (
    <p className="status-line hint">
      <span className={`connection connection-${connection}`} role="status">
        {WORDS[connection]}
      </span>
      {connection === 'reconnecting' && knownAt ? (
        <> last update {Math.max(0, Math.floor((Date.now() - knownAt) / 1000))} s ago</>
      ) : null}
    </p>
  )
}
