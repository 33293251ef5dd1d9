import { request as httpRequest } from 'node:http'
import { adapters, createConsumer } from '@rails/actioncable'
import { SUB_PROTOCOL } from '../../src/domain/cable.ts'
import type { Job } from '../../src/domain/wire.ts'
import { type Client, waitFor } from './client.ts'

type Headers = Record<string, string>
/** Node's own WebSocket takes headers; the browsers' type does not know. */
const HeaderSocket = WebSocket as unknown as new (
  url: string,
  options: { protocols: string[]; headers: Headers },
) => WebSocket

export const cableUrl = (client: Client) => `${client.url.replace('http', 'ws')}/cable`
const browserHeaders = (client: Client): Headers => ({ Origin: client.url, Cookie: client.cookieHeader })

export const jobsChannel = (userId: string) => JSON.stringify({ channel: 'JobsChannel', user_id: userId })

/** A bare socket that keeps all frames it got, and how it was closed. */
export async function openSocket(client: Client, headers: Headers = {}) {
  const socket = new HeaderSocket(cableUrl(client), {
    protocols: [SUB_PROTOCOL],
    headers: { ...browserHeaders(client), ...headers },
  })
  const frames: string[] = []
  let closed: { code: number; reason: string } | null = null
  socket.addEventListener('message', ({ data }) => frames.push(String(data)))
  socket.addEventListener('close', ({ code, reason }) => {
    closed = { code, reason }
  })
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  return {
    socket,
    frames,
    /** What came beside pings. */
    said: () => frames.filter((frame) => !frame.startsWith('{"type":"ping"')),
    send: (frame: string | Uint8Array<ArrayBuffer>) => socket.send(frame),
    subscribe: (identifier: string) => socket.send(JSON.stringify({ command: 'subscribe', identifier })),
    jobs: () => frames.map((frame) => JSON.parse(frame).message?.job).filter(Boolean) as Job[],
    until: (frame: string) => waitFor(async () => frames.includes(frame)),
    closed: () => waitFor(async () => closed),
    /** The other side has said that it closes. */
    closing: () => waitFor(async () => socket.readyState >= WebSocket.CLOSING),
    isClosed: () => socket.readyState >= WebSocket.CLOSING,
  }
}

export type CableSocket = Awaited<ReturnType<typeof openSocket>>

/** Everything sent before this has been answered: the keepalive's answer comes in its turn. */
export async function answered({ socket, frames, subscribe }: CableSocket, userId: string): Promise<void> {
  const nonce = jobsChannel(`nobody-${userId}-${frames.length}`)
  subscribe(nonce)
  await waitFor(async () => frames.some((frame) => JSON.parse(frame).identifier === nonce) || socket.readyState > 1)
}

/** The status that an upgrade is answered with. */
export function upgradeStatus(client: Client, headers: Headers): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(client.url)
    const upgrade = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    }
    const request = httpRequest({ hostname, port, path: '/cable', headers: { ...upgrade, ...headers } })
    request.on('response', (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on('upgrade', (_, socket) => {
      socket.destroy()
      resolve(101)
    })
    request.on('error', reject)
    request.end()
  })
}

/** The stock client, subscribed to the person's jobs, in a world that has no page. */
export function stockClient(client: Client & { id: string }, userId = client.id) {
  Object.assign(globalThis, {
    addEventListener() {},
    removeEventListener() {},
    document: { visibilityState: 'visible' },
  })
  const opened: WebSocket[] = []
  adapters.WebSocket = class {
    constructor(url: string, protocols: string[]) {
      const socket = new HeaderSocket(url, { protocols, headers: browserHeaders(client) })
      opened.push(socket)
      // biome-ignore lint/correctness/noConstructorReturn: the client calls it as a constructor
      return socket
    }
  } as unknown as typeof WebSocket
  Object.assign(adapters.WebSocket, { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 })
  const consumer = createConsumer(cableUrl(client))
  const jobs: Job[] = []
  const state = { connected: 0, disconnected: 0, rejected: 0 }
  consumer.subscriptions.create(
    { channel: 'JobsChannel', user_id: userId },
    {
      connected: () => void state.connected++,
      disconnected: () => void state.disconnected++,
      rejected: () => void state.rejected++,
      received: ({ event, job }: { event: string; job: Job }) => {
        if (event === 'job.updated') jobs.push(job)
      },
    },
  )
  return { consumer, jobs, state, opened }
}
