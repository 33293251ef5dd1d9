import { createCable } from '@anycable/core'
import { adapters, createConsumer } from '@rails/actioncable'
import type { Job } from '../../src/domain/wire/fleet.ts'
import { browserHeaders, HeaderSocket } from './cable.ts'
import type { Client } from './client.ts'

type News = { event: string; job: Job }

/** A third-party client, subscribed to a person's jobs. */
export type StockClient = {
  jobs: Job[]
  state: { connected: number; disconnected: number; rejected: number }
  /** It will not reconnect. */
  hasEnded(): boolean
  stop(): void
}

/** @param url of the socket; `userId`: whose jobs to subscribe to */
type Connect = (url: string, client: Client, userId: string) => StockClient

/** A browser's WebSocket, which sends its page's origin and cookies. */
function browserSocket(client: Client) {
  return class {
    static readonly CONNECTING = 0
    static readonly OPEN = 1
    static readonly CLOSING = 2
    static readonly CLOSED = 3
    constructor(url: string, protocols: string | string[]) {
      // biome-ignore lint/correctness/noConstructorReturn: the clients call it as a constructor
      return new HeaderSocket(url, { protocols: [protocols].flat(), headers: browserHeaders(client) })
    }
  }
}

function notes(): Pick<StockClient, 'jobs' | 'state'> & { keep(news: News): void } {
  const jobs: Job[] = []
  const keep = ({ event, job }: News) => void (event === 'job.updated' && jobs.push(job))
  return { jobs, state: { connected: 0, disconnected: 0, rejected: 0 }, keep }
}

/** The Rails client, in a world without a page. */
const railsClient: Connect = (url, client, userId) => {
  Object.assign(globalThis, {
    addEventListener() {},
    removeEventListener() {},
    document: { visibilityState: 'visible' },
  })
  adapters.WebSocket = browserSocket(client) as unknown as typeof WebSocket
  const { jobs, state, keep } = notes()
  const consumer = createConsumer(url)
  consumer.subscriptions.create(
    { channel: 'JobsChannel', user_id: userId },
    {
      connected: () => void state.connected++,
      disconnected: () => void state.disconnected++,
      rejected: () => void state.rejected++,
      received: keep,
    },
  )
  const { monitor } = (consumer as unknown as { connection: { monitor: { isRunning(): boolean } } }).connection
  return { jobs, state, hasEnded: () => !monitor.isRunning(), stop: () => consumer.disconnect() }
}

/** The AnyCable client. */
const anycableClient: Connect = (url, client, userId) => {
  const { jobs, state, keep } = notes()
  const cable = createCable(url, { websocketImplementation: browserSocket(client) })
  const channel = cable.subscribeTo('JobsChannel', { user_id: userId })
  channel.on('connect', () => void state.connected++)
  channel.on('disconnect', () => void state.disconnected++)
  channel.on('close', (error) => void (error?.name === 'SubscriptionRejectedError' && state.rejected++))
  channel.on('message', (news) => keep(news as News))
  return { jobs, state, hasEnded: () => cable.state === 'closed', stop: () => cable.disconnect() }
}

export const STOCK_CLIENTS: [string, Connect][] = [
  ['@rails/actioncable', railsClient],
  ['@anycable/core', anycableClient],
]
