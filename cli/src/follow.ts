import { createCable } from '@anycable/core'
import WebSocket from 'ws'
import { KEEPALIVE, PING_EVERY_MS } from '../../src/domain/cable.ts'
import type { Job, Server } from '../../src/domain/wire/fleet.ts'
import { listServers } from './api.ts'
import { EXIT, Failure } from './failure.ts'
import type { Site } from './site.ts'

const POLL_MS = 3_000
/** While the cable is up, we poll only this often, in case we missed something. */
const POLLS_SKIPPED = 5

/** A socket that keeps itself alive. The object at the other end sleeps through its pings. */
class KeepaliveSocket extends WebSocket {
  constructor(url: string, protocols: string, options: WebSocket.ClientOptions) {
    super(url, protocols, options)
    const ping = () => this.readyState === WebSocket.OPEN && this.send(KEEPALIVE)
    const timer = setInterval(ping, PING_EVERY_MS)
    this.on('open', ping)
    this.on('close', () => clearInterval(timer))
  }

  /** A peer that doesn't answer must not keep the process alive. */
  override close(): void {
    super.close()
    setTimeout(() => this.terminate(), 500).unref()
  }
}

type Listener = {
  onJob(job: Job): void
  /** Gets the latest runs, newest first: from time to time, and often while the cable is down. */
  onServers(servers: Server[]): void
  /** We can't continue. */
  onFailure(failure: Failure): void
}

/**
 * Follows the account's jobs until the returned function is called. If WebSockets are blocked, it polls.
 */
export function follow(site: Site, userId: string, { onJob, onServers, onFailure }: Listener): () => void {
  let ended = false
  const cable = createCable(`${site.url.replace('http', 'ws')}/cable`, {
    logLevel: 'error',
    websocketImplementation: KeepaliveSocket,
    websocketOptions: { handshakeTimeout: 10_000, headers: { Authorization: `Bearer ${site.token}` } },
  })
  const channel = cable.subscribeTo('JobsChannel', { user_id: userId })
  channel.on('message', (message) => {
    const { event, job } = message as unknown as { event: string; job: Job }
    if (!ended && event === 'job.updated') onJob(job)
  })

  let polling = false
  let skipped = 0
  const timer = setInterval(async () => {
    if (polling || (channel.state === 'connected' && ++skipped < POLLS_SKIPPED)) return
    polling = true
    skipped = 0
    try {
      const servers = await listServers(site)
      if (!ended) onServers(servers)
    } catch (error) {
      // Anything else may be temporary.
      if (!ended && error instanceof Failure && error.exitCode === EXIT.notSignedIn) onFailure(error)
    } finally {
      polling = false
    }
  }, POLL_MS)

  return () => {
    ended = true
    clearInterval(timer)
    cable.disconnect()
  }
}
