import { adapters, createConsumer } from '@rails/actioncable'
import { KEEPALIVE, PING_EVERY_MS } from '../domain/cable.ts'
import type { Job, LinePlace, Server } from '../domain/wire/fleet.ts'

/**
 * `off`: the server closed it for good, because newer tabs took its place or the sign-in ended. `blocked`: it has never
 * been live, so something on the way blocks WebSockets.
 */
export type Connection = 'connecting' | 'live' | 'reconnecting' | 'off' | 'blocked'

/** To the page's bell. */
const passOn = () => document.dispatchEvent(new Event('cable'))

const BLOCKED_AFTER_MS = 10_000

export type Listener = {
  onJob: (job: Job) => void
  /** The server's end or name changed, or it ends soon. */
  onServer: (server: Server) => void
  /** The connection is up (again), or the account changed: time to reload. */
  onNews: () => void
  /** Their place in line changed. */
  onLine?: (line: LinePlace | null) => void
  /** `heardAt`: when the server was last heard, in ms since 1970 by this machine's clock. */
  onConnection: (connection: Connection, heardAt: number) => void
}

/**
 * Follows the user's jobs.
 * @returns what ends it
 */
export function followJobs(userId: string, { onJob, onServer, onNews, onLine, onConnection }: Listener): () => void {
  let heardAt = 0
  /** A socket that keeps itself alive. The answer to its ping comes without waking the object at the other end. */
  class KeepaliveSocket extends WebSocket {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, protocols)
      const ping = () => this.readyState === WebSocket.OPEN && this.send(KEEPALIVE)
      const timer = setInterval(ping, PING_EVERY_MS)
      this.addEventListener('open', ping)
      this.addEventListener('message', () => {
        heardAt = Date.now()
      })
      this.addEventListener('close', () => clearInterval(timer))
    }
  }
  adapters.WebSocket = KeepaliveSocket
  const url = document.querySelector<HTMLMetaElement>('meta[name="cable-url"]')?.content ?? '/cable'
  const consumer = createConsumer(url)
  let isOff = false
  let isBlocked = false
  const lost = () => onConnection(isOff ? 'off' : isBlocked ? 'blocked' : 'reconnecting', heardAt)
  const patience = setTimeout(() => {
    isBlocked = true
    lost()
  }, BLOCKED_AFTER_MS)
  consumer.subscriptions.create(
    { channel: 'JobsChannel', user_id: userId },
    {
      connected() {
        isOff = false
        isBlocked = false
        clearTimeout(patience)
        onConnection('live', heardAt)
        onNews()
        passOn()
      },
      disconnected({ willAttemptReconnect }: { willAttemptReconnect: boolean }) {
        isOff = !willAttemptReconnect
        lost()
        // Someone else may have signed in.
        if (isOff) passOn()
      },
      rejected: passOn,
      received(message: { event: string; job: Job; server: Server; line: LinePlace | null }) {
        if (message.event === 'job.updated') return onJob(message.job)
        if (message.event === 'server.updated' || message.event === 'server.ending') onServer(message.server)
        if (message.event === 'line.updated') onLine?.(message.line)
        if (message.event === 'account.updated') onNews()
        passOn()
      },
    },
  )
  // The stock client notices only after seconds of silence. The browser may know at once that the network changed.
  const { connection } = consumer as unknown as { connection: { reopen(): void } }
  const reopen = () => connection.reopen()
  // A tab that gave way to newer ones reconnects once the user looks at it.
  const seen = () => isOff && !document.hidden && reopen()
  document.addEventListener('visibilitychange', seen)
  window.addEventListener('offline', lost)
  window.addEventListener('online', reopen)
  return () => {
    clearTimeout(patience)
    document.removeEventListener('visibilitychange', seen)
    window.removeEventListener('offline', lost)
    window.removeEventListener('online', reopen)
    consumer.disconnect()
  }
}
