import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { cookieOf, listenOn, newRunner, openDoorStack } from '../../../testing/stack/door.ts'

const stack = await openDoorStack()
const { person, server } = await newRunner(stack)
const own = server.door_url.replace('.door', '-9090.door')
const { host, port } = new URL(own)
const cookie = await cookieOf(person, server.door_url)

/** What the machine says before it falls silent, by path. Of anything else, nothing. */
const said: Record<string, string> = {
  '/stream': 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n:\n\n\r\n',
  '/download': 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nthe beginning',
}
/** The machine's open connections, by path. */
const open: string[] = []
await listenOn(server.machine, 9090, (socket) => {
  socket.once('data', (bytes) => {
    const path = String(bytes).split(' ')[1] ?? ''
    open.push(path)
    socket.write(said[path] ?? '')
    socket.on('end', () => socket.end()).on('close', () => open.splice(open.indexOf(path), 1))
  })
})

test.each([
  ['a quiet stream', 'GET /stream', ''],
  ['half a download', 'GET /download', ''],
  ['an answer that never comes', 'GET /poll', ''],
  ['an upload', 'POST /upload', 'Content-Length: 100\r\n'],
  [
    'a WebSocket that is never opened',
    'GET /socket',
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
  ],
])('a visitor who leaves %s leaves nothing open at the machine', async (_, line, rest) => {
  const path = line.split(' ')[1]
  // Longer ones are held on to as well (hold.ts).
  // An object that doesn't answer is given up after 15 s, the machine never.
  for (const after of path === '/socket' ? [50, 700, 15_500] : [50, 700]) {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
    let heard = ''
    socket.on('data', (bytes) => (heard += bytes))
    socket.write(`${line} HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\n${rest}\r\n`)
    if (line.startsWith('POST')) socket.write('the beginning')
    await expect.poll(() => [open, Boolean(heard)]).toEqual([[path], path !== undefined && path in said])
    await new Promise((resolve) => setTimeout(resolve, after))
    expect(open).toEqual([path])
    socket.resetAndDestroy()
    await expect.poll(() => open).toEqual([])
  }
})
