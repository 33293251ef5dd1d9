import { createHash, randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { TCP_PORTS } from '../../../src/domain/machine-ports.ts'
import { newPerson, waitFor } from '../../../testing/people/client.ts'
import { listenOn, newRunner, openDoorStack, socketTo, tokenOf } from '../../../testing/stack/door.ts'

const stack = await openDoorStack()
const { person, server } = await newRunner(stack)
const token = await tokenOf(person)
const address = (port: number | string, id = server.id) => `${stack.url}/api/v1/servers/${id}/tcp/${port}`
const open = (port: number, protocols: string[] = []) =>
  socketTo(address(port), { authorization: `Bearer ${token}` }, protocols)
const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const MB = 1_000_000
const WINDOWS = 'tcp.proving-ground'

const echo = (socket: Socket) => void socket.pipe(socket)

test('a client that knows nothing of windows sends and gets bytes, whatever the frames', async () => {
  await listenOn(server.machine, 41451, echo)
  const { socket, received } = await open(41451)
  const sent = randomBytes(24 * MB)
  const sizes = [1, 2, 65_536, 0, 8 * MB, 100_000]
  let at = 0
  for (let i = 0; at < sent.length; i++) {
    const size = sizes[i % sizes.length] as number
    socket.send(sent.subarray(at, at + size))
    at += size
  }
  const bytes = () => received.reduce((sum, { length }) => sum + length, 0)
  await expect.poll(bytes).toBe(sent.length)
  expect(received.every((data) => Buffer.isBuffer(data))).toBe(true)
  expect(hashOf(Buffer.concat(received as Buffer[]))).toBe(hashOf(sent))
})

test('what the machine sends before it closes arrives, and then the close', async () => {
  const sent = randomBytes(8 * MB)
  await listenOn(server.machine, 5760, (socket) => socket.end(sent))
  const { received, state } = await open(5760)
  await expect.poll(() => state.closed).toBe(1000)
  expect(hashOf(Buffer.concat(received as Buffer[]))).toBe(hashOf(sent))
})

test('what the client sent before it closed reaches the machine, and then the close', async () => {
  const arrived: Buffer[] = []
  let ended = false
  let machine: Socket | undefined
  await listenOn(server.machine, 9090, (socket) => {
    // It reads only once the client has sent everything.
    machine = socket.pause()
    socket.on('data', (chunk) => arrived.push(chunk)).on('end', () => (ended = true))
  })
  const { socket } = await open(9090)
  const sent = randomBytes(40 * MB)
  for (let at = 0; at < sent.length; at += MB) socket.send(sent.subarray(at, at + MB))
  socket.close(1000)
  await expect.poll(() => machine && socket.bufferedAmount).toBe(0)
  machine?.resume()
  await expect.poll(() => ended).toBe(true)
  expect(hashOf(Buffer.concat(arrived))).toBe(hashOf(sent))
})

test.each(['FIN', 'RST', '1001'])("the machine's connection ends with a client that leaves by %s", async (how) => {
  let isOpen: boolean | null = null
  const port = { FIN: 2000, RST: 2001, 1001: 7447 }[how] as number
  await listenOn(server.machine, port, (socket) => {
    isOpen = true
    // It ends only when its client does.
    socket.on('close', () => (isOpen = false)).on('end', () => socket.end())
    echo(socket)
  })
  const { socket, received } = await open(port, [WINDOWS])
  socket.send(Buffer.from('bytes'))
  await waitFor(async () => received.length > 0)
  if (how === '1001') socket.close(1001)
  else if (how === 'FIN') socket.terminate()
  else (socket as unknown as { _socket: Socket })._socket.resetAndDestroy()
  await waitFor(async () => isOpen === false)
})

test('a client with windows ends its half and still gets the answer', async () => {
  await listenOn(server.machine, 8765, async (socket) => {
    const all = Buffer.concat(await socket.toArray())
    socket.end(`got ${all.length}`)
  })
  const { socket, received, state } = await open(8765, [WINDOWS])
  expect(socket.protocol).toBe(WINDOWS)
  socket.send(Buffer.alloc(1000))
  socket.send(Buffer.alloc(0))
  await expect.poll(() => state.closed).toBe(1000)
  expect(Buffer.concat(received as Buffer[]).toString()).toBe('got 1000')
})

test('says why a connection fails', async () => {
  const nobody = await newPerson(stack.url, 'Eve')
  const refused = async (to: string, headers: Record<string, string>) => (await socketTo(to, headers)).state.refused
  expect(await refused(address(41451), {})).toBe(401)
  expect(await refused(address(41451), { authorization: `Bearer ${await tokenOf(nobody)}` })).toBe(404)
  expect(await refused(address(41451), { authorization: `Bearer ${await tokenOf(person, 'read')}` })).toBe(403)
  const headers = { authorization: `Bearer ${token}` }
  for (const port of [22, 5173, 'x', 0, 65536, '41451x']) expect(await refused(address(port), headers)).toBe(404)
  expect(await refused(address(41451, 'ses_none'), headers)).toBe(404)
  // A program may ask without a WebSocket.
  const asked = async (port: number) => {
    const answer = await fetch(address(port), { headers })
    return [answer.status, ((await answer.json()) as { error: string }).error]
  }
  expect(await asked(22)).toEqual([404, `Port 22 isn't open. These are: ${TCP_PORTS.join(', ')}.`])
  expect(await asked(41451)).toEqual([400, expect.stringContaining('Open a WebSocket here')])
})

test('a port where nothing listens closes without a byte', async () => {
  const { person: ada, server: other } = await newRunner(stack, 'Ada')
  const headers = { authorization: `Bearer ${await tokenOf(ada)}` }
  const { state, received } = await socketTo(address(41451, other.id), headers)
  await expect.poll(() => state.closed).not.toBe(null)
  expect(received).toEqual([])
})

test('bytes before the turn are refused, since they would be lost', async () => {
  const early = await open(41451, ['in-turn.tcp.proving-ground'])
  early.socket.send(Buffer.from('before its turn'))
  await expect.poll(() => early.state.closed).toBe(1002)
})

test('connections to machines that do not read end before they fill the memory that all share', async () => {
  await listenOn(server.machine, 8989, (socket) => void socket.pause())
  await listenOn(server.machine, 8990, echo)
  const greedy = await Promise.all(Array.from({ length: 6 }, () => open(8989)))
  for (const { socket } of greedy) for (let i = 0; i < 30; i++) socket.send(randomBytes(MB))
  await expect.poll(() => greedy.filter(({ state }) => state.closed === 1009).length).toBeGreaterThan(2)
  // Many that have nothing waiting take nothing from anyone's share.
  const idle = await Promise.all(Array.from({ length: 80 }, () => open(8990)))
  for (const { socket } of idle) socket.send(Buffer.from('x'))
  await expect.poll(() => idle.every(({ received }) => received.length > 0)).toBe(true)
  const { socket, received } = await open(8990)
  socket.send(Buffer.from('still here'))
  await expect.poll(() => String(received[0] ?? '')).toBe('still here')
  for (const { socket: left } of [...greedy, ...idle]) left.terminate()
})

test('one machine that does not read takes nothing from the share of another', async () => {
  const { server: other, person: ada } = await newRunner(stack, 'Ada')
  for (const { machine } of [server, other]) await listenOn(machine, 6080, (socket) => void socket.pause())
  const his = await Promise.all([open(6080), open(6080), open(6080), open(6080)])
  const hers = await socketTo(address(6080, other.id), { authorization: `Bearer ${await tokenOf(ada)}` })
  const park = ({ socket }: typeof hers, count: number) => {
    for (let i = 0; i < count; i++) socket.send(randomBytes(MB))
    return expect.poll(() => socket.bufferedAmount).toBe(0)
  }
  // Together more than 64 MiB, although the kernel takes some. Hers is less than half of it, and more than a fifth.
  for (const one of his) await park(one, 15)
  await park(hers, 31)
  await park(his[0], 1)
  await expect.poll(() => his[0].state.closed).toBe(1009)
  expect(hers.state.closed).toBe(null)
  for (const { socket } of [...his, hers]) socket.terminate()
})
