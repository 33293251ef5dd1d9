import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { newForwarder, openForward } from '../../testing/people/forwarder.ts'
import { atEnd, temporaryFolder } from '../../testing/stack/at-end.ts'
import { listenOn, onMachine, openDoorStack } from '../../testing/stack/door.ts'
import { pythonWith, stockPrograms } from '../../testing/stack/stock-programs.ts'
import { isSkipped } from '../../testing/stack/third-party.ts'

const AIRSIM = 41451
const MAVLINK = 5760
const ROSBRIDGE = 9090
const HERE = '127.0.0.1'
const MB = 1_000_000

let ada: Awaited<ReturnType<typeof newForwarder>>
let forwarding: Awaited<ReturnType<typeof openForward>>
beforeAll(async () => {
  const stack = await openDoorStack()
  ada = await newForwarder(stack)
  forwarding = await openForward(ada, [AIRSIM, MAVLINK])
})

/** A program with nothing in its environment but these. @returns what it printed, once it has succeeded */
function run(program: string, args: string[], env: Record<string, string> = {}) {
  const child = spawn(program, args, { env: { PATH: process.env.PATH ?? '', ...env } })
  atEnd(() => void child.kill('SIGKILL'))
  return { child, done: untilDone(child) }
}

function untilDone(child: ChildProcess): Promise<string> {
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (said += chunk))
  return new Promise((resolve, reject) =>
    child.on('close', (code) => (code === 0 ? resolve(said) : reject(new Error(`It ended with ${code}:\n${said}`)))),
  )
}

const script = (name: string) => join(import.meta.dirname, 'stock-programs', name)

/** Starts a Python program on the machine, and waits until it listens. */
async function onTheMachine(python: string, args: string[]) {
  const { child, done } = run(python, args)
  await Promise.race([new Promise((resolve) => child.stdout?.once('data', resolve)), done])
  done.catch(() => {})
  const ended = new Promise((resolve) => child.once('exit', resolve))
  return () => {
    child.kill('SIGKILL')
    return ended
  }
}

describe.skipIf(isSkipped(stockPrograms))('programs from PyPI', () => {
  test("AirSim's RPC library talks to a server of the same library", async () => {
    const python = pythonWith('stock-rpc')
    const stop = await onTheMachine(python, [script('rpc.py'), 'server', ada.server.machine, String(AIRSIM)])
    const { done } = run(python, [script('rpc.py'), 'client', String(forwarding.localPort(AIRSIM))])
    expect(await done).toContain('done')
    await stop()
  })

  test('a ground station of pymavlink reads a vehicle', async () => {
    const python = pythonWith('stock-programs')
    const stop = await onTheMachine(python, [script('mavlink.py'), 'vehicle', ada.server.machine, String(MAVLINK)])
    const { done } = run(python, [script('mavlink.py'), 'station', String(forwarding.localPort(MAVLINK))])
    expect(await done).toContain('done')
    await stop()
  })

  test('roslibpy subscribes, publishes, and calls a service behind the door', async () => {
    const bob = await newForwarder(await openDoorStack())
    const { server: web } = await onMachine(bob.server.machine, ROSBRIDGE, (_, res) => void res.end())
    new WebSocketServer({ server: web }).on('connection', (socket) => rosbridge(socket))
    const { hostname, port } = new URL(bob.server.door_url.replace('.door', `-${ROSBRIDGE}.door`))
    const { done } = run(pythonWith('stock-programs'), [script('ros.py'), hostname, port], { TOKEN: bob.token })
    expect(await done).toContain('done')
  })
})

/** As much of the rosbridge protocol as one program needs: topics come back, and one service adds. */
function rosbridge(socket: WebSocket): void {
  const topics = new Set<string>()
  socket.on('message', (data) => {
    const said = JSON.parse(String(data))
    if (said.op === 'subscribe') topics.add(said.topic)
    if (said.op === 'publish' && topics.has(said.topic)) socket.send(JSON.stringify(said))
    if (said.op !== 'call_service') return
    const values = { sum: said.args.a + said.args.b }
    socket.send(JSON.stringify({ op: 'service_response', id: said.id, service: said.service, values, result: true }))
  })
}

test('curl sends and gets 64 MB, a range, and events as they come', async () => {
  const bob = await newForwarder(await openDoorStack())
  const folder = temporaryFolder('curl')
  const bytes = randomBytes(64 * MB)
  await onMachine(bob.server.machine, ROSBRIDGE, async (req, res) => {
    if (req.url === '/events') {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: one\n\n')
      // The second comes only after the first has arrived.
      return void req.socket.once('data', () => {})
    }
    if (req.method === 'PUT') {
      const hash = createHash('sha256')
      for await (const chunk of req) hash.update(chunk)
      return void res.end(hash.digest('hex'))
    }
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(req.headers.range ?? '') ?? []
    if (from && to)
      return void res
        .writeHead(206, { 'content-range': `bytes ${from}-${to}/${bytes.length}` })
        .end(bytes.subarray(Number(from), Number(to) + 1))
    res.end(bytes)
  })
  const address = bob.server.door_url.replace('.door', `-${ROSBRIDGE}.door`)
  const { hostname, port } = new URL(address)
  const curl = (...args: string[]) => {
    const all = [
      '-fsS',
      '--resolve',
      `${hostname}:${port}:${HERE}`,
      '-H',
      `Authorization: Bearer ${bob.token}`,
      ...args,
    ]
    return run('curl', all)
  }
  const file = join(folder, 'got')
  await curl('-o', file, address).done
  expect(readFileSync(file).equals(bytes)).toBe(true)
  expect(await curl('-T', file, address).done).toBe(createHash('sha256').update(bytes).digest('hex'))
  await curl('-o', file, '-r', '1000-1999', address).done
  expect(readFileSync(file).equals(bytes.subarray(1000, 2000))).toBe(true)
  const events = curl('-N', `${address}events`)
  events.done.catch(() => {})
  expect(String(await new Promise((resolve) => events.child.stdout?.once('data', resolve)))).toBe('data: one\n\n')
})

test('64 MB go both ways unharmed, and 200 connections at once', async () => {
  const bob = await newForwarder(await openDoorStack())
  await listenOn(bob.server.machine, AIRSIM, (socket: Socket) => void socket.pipe(socket))
  const { connect, seen } = await openForward(bob, [AIRSIM])
  const echo = async (sent: Buffer) => {
    const socket = await connect(AIRSIM)
    socket.end(sent)
    return Buffer.concat(await socket.toArray()).equals(sent)
  }
  expect(await echo(randomBytes(64 * MB))).toBe(true)
  const all = await Promise.all(Array.from({ length: 200 }, () => echo(randomBytes(100_000))))
  expect(all.filter(Boolean)).toHaveLength(200)
  expect(seen.err).toBe('Press Ctrl-C to end this.\n')
})
