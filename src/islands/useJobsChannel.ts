import { adapters, createConsumer } from '@rails/actioncable'
import { useEffect, useRef, useState } from 'react'
import { KEEPALIVE, PING_EVERY_MS } from '../domain/cable.ts'
import type { Job } from '../domain/wire.ts'

export type Connection = 'connecting' | 'live' | 'reconnecting'

/** A socket that keeps itself alive: the answer comes without waking the object at the other end. */
class KeepaliveSocket extends WebSocket {
  constructor(url: string | URL, protocols?: string | string[]) {
    super(url, protocols)
    const ping = () => this.readyState === WebSocket.OPEN && this.send(KEEPALIVE)
    const timer = setInterval(ping, PING_EVERY_MS)
    this.addEventListener('open', ping)
    this.addEventListener('close', () => clearInterval(timer))
  }
}

/**
 * Follows the user's jobs.
 * @param onConnect the connection is (back) up: time to read again what may have changed meanwhile
 */
export function useJobsChannel(userId: string, onJob: (job: Job) => void, onConnect: () => void): Connection {
  const [connection, setConnection] = useState<Connection>('connecting')
  const latest = useRef({ onJob, onConnect })
  latest.current = { onJob, onConnect }
  useEffect(() => {
    adapters.WebSocket = KeepaliveSocket
    const url = document.querySelector<HTMLMetaElement>('meta[name="cable-url"]')?.content ?? '/cable'
    const consumer = createConsumer(url)
    consumer.subscriptions.create(
      { channel: 'JobsChannel', user_id: userId },
      {
        connected() {
          setConnection('live')
          latest.current.onConnect()
        },
        disconnected() {
          setConnection('reconnecting')
        },
        received(message: { event: string; job: Job }) {
          if (message.event === 'job.updated') latest.current.onJob(message.job)
        },
      },
    )
    // The stock client looks every few seconds whether it is stale; a network that came back need not wait for that.
    const { connection } = consumer as unknown as { connection: { monitor: { visibilityDidChange(): void } } }
    const reopen = () => connection.monitor.visibilityDidChange()
    window.addEventListener('online', reopen)
    return () => {
      window.removeEventListener('online', reopen)
      consumer.disconnect()
    }
  }, [userId])
  return connection
}
