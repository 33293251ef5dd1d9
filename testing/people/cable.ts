import { SUB_PROTOCOL } from '../../src/domain/cable.ts'
import type { Job } from '../../src/domain/wire/fleet.ts'
import { type Client, waitFor } from './client.ts'

type Headers = Record<string, string>
/** Node's own WebSocket accepts headers, which the browser's type does not know. */
export const HeaderSocket = WebSocket as unknown as new (
  url: string,
  options: { protocols: string[]; headers: Headers },
) => WebSocket

export const cableUrl = (client: Client) => `${client.url.replace('http', 'ws')}/cable`
export const browserHeaders = (client: Client): Headers => ({ Origin: client.url, Cookie: client.cookieHeader })

export const jobsChannel = (userId: string) => JSON.stringify({ channel: 'JobsChannel', user_id: userId })

/** The server's answer to a subscription. */
export const confirmed = (identifier: string) => JSON.stringify({ identifier, type: 'confirm_subscription' })

/** A bare socket that keeps every frame it received, and how it was closed. */
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
    /** The frames without pings. */
    said: () => frames.filter((frame) => !frame.startsWith('{"type":"ping"')),
    send: (frame: string | Uint8Array<ArrayBuffer>) => socket.send(frame),
    subscribe: (identifier: string) => socket.send(JSON.stringify({ command: 'subscribe', identifier })),
    unsubscribe: (identifier: string) => socket.send(JSON.stringify({ command: 'unsubscribe', identifier })),
    jobs: () => frames.map((frame) => JSON.parse(frame).message?.job).filter(Boolean) as Job[],
    until: (frame: string) => waitFor(async () => frames.includes(frame)),
    closed: () => waitFor(async () => closed),
    /** The other side has started to close. */
    closing: () => waitFor(async () => socket.readyState >= WebSocket.CLOSING),
    isClosed: () => socket.readyState >= WebSocket.CLOSING,
  }
}

export type CableSocket = Awaited<ReturnType<typeof openSocket>>

/** Resolves once everything sent earlier has been answered: frames are read in order, and this one is rejected. */
export async function answered({ socket, frames, subscribe }: CableSocket, userId: string): Promise<void> {
  const nonce = jobsChannel(`nobody-${userId}-${frames.length}`)
  subscribe(nonce)
  await waitFor(async () => frames.some((frame) => JSON.parse(frame).identifier === nonce) || socket.readyState > 1)
}
