import { request as httpRequest } from 'node:http'
import type { Socket } from 'node:net'
import { SUB_PROTOCOL } from '../../src/domain/cable.ts'
import type { Client } from './client.ts'
import { frame, type Opcode, parseFrames } from './websocket-frames.ts'

type Headers = Record<string, string>
type Upgraded = { status: number; protocol: string | null; socket: Socket | null; head: Buffer }

/** The headers that our own pages send. */
export const ownUpgrade = (client: Client): Headers => ({
  Origin: client.url,
  Cookie: client.cookieHeader,
  'Sec-WebSocket-Protocol': SUB_PROTOCOL,
})

/** Requests a socket with only these headers. */
function upgrade(client: Client, headers: Headers, path = '/cable'): Promise<Upgraded> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(client.url)
    const needed = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    }
    const request = httpRequest({ hostname, port, path, headers: { ...needed, ...headers } })
    request.on('response', (response) => {
      response.resume()
      resolve({ status: response.statusCode ?? 0, protocol: null, socket: null, head: Buffer.alloc(0) })
    })
    request.on('upgrade', ({ headers }, socket, head) =>
      resolve({ status: 101, protocol: headers['sec-websocket-protocol'] ?? null, socket: socket as Socket, head }),
    )
    request.on('error', reject)
    request.end()
  })
}

/** The answer's status and sub-protocol; closes the socket. */
export async function upgradeAnswer(client: Client, headers: Headers, path?: string) {
  const { status, protocol, socket } = await upgrade(client, headers, path)
  socket?.destroy()
  return { status, protocol }
}

/** A socket on which the test writes every frame itself. */
export async function openRawSocket(client: Client) {
  const { socket, head } = await upgrade(client, ownUpgrade(client))
  if (!socket) throw new Error('The upgrade was refused.')
  let received = head
  let ended = false
  socket.on('data', (data) => {
    received = Buffer.concat([received, data])
  })
  socket.on('end', () => {
    ended = true
  })
  socket.on('error', () => {})
  const frames = () => parseFrames(received)
  return {
    write: (opcode: Opcode, payload: string | Buffer, options?: { fin: boolean }) =>
      socket.write(frame(opcode, payload, options)),
    frames,
    /** The text frames, without pings. */
    said: () =>
      frames()
        .filter((got) => got.opcode === 'text')
        .map((got) => got.payload.toString())
        .filter((text) => !text.startsWith('{"type":"ping"')),
    ended: () => ended,
    end: () => socket.destroy(),
  }
}
