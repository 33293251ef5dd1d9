import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'
import { childProcesses } from '../dev/child-processes.ts'
import { newForwarder, openForward } from '../testing/people/forwarder.ts'
import { endAll } from '../testing/stack/at-end.ts'
import { listenOn, onMachine, openDoorStack } from '../testing/stack/door.ts'
import { median, timed } from './median.ts'
import { startPlainDoor } from './plain-door.ts'
import { atMost, type Row, told } from './table.ts'

const WEB = 9090
const TCP = 41451
const MB = 1024 * 1024
const LARGE = Buffer.alloc(64 * MB, 7)
const TIMES_LARGE_IN_1_GB = 16
const MESSAGES = 1_000

type Way = { host: string; port: number; headers: Record<string, string> }
type Ways = Record<'straight' | 'plain' | 'door', Way>

/**
 * The door, and `proving-ground forward`, against going straight to the machine. All is on this computer, where the
 * bytes cross three Workers and with `forward` one more process: `plain` is as many of them without our code.
 */
export async function benchDoor(): Promise<Row[]> {
  const stack = await openDoorStack()
  const { server, token, ...computer } = await newForwarder(stack)
  await openMachine(server.machine)
  const plain = await startPlainDoor(server.machine, { web: WEB, tcp: TCP })
  const { child, localPort } = await openForward(computer, [TCP])
  const door = new URL(server.door_url.replace('.door', `-${WEB}.door`))
  const headers = { host: door.host, authorization: `Bearer ${token}` }
  const at = (host: string, port: number) => ({ host, port, headers: {} })
  const web = {
    straight: at(server.machine, WEB),
    plain: at('127.0.0.1', plain.port),
    door: { host: '127.0.0.1', port: Number(door.port), headers },
  }
  const tcp = {
    straight: at(server.machine, TCP),
    plain: at('127.0.0.1', plain.relayPort),
    door: at('127.0.0.1', localPort(TCP)),
  }
  try {
    return [
      ...more('door, first byte', await compare(web, 100, firstByte), 3),
      ...ratio('door, 64 MB down', await compare(web, 7, download)),
      ...more('door, a message there and back by WebSocket', await compare(web, 5, bySocket), 3),
      ...more('forward, a message there and back', await compare(tcp, 5, byTcp), 3),
      ...ratio('forward, 64 MB down', await compare(tcp, 7, downloadTcp), 'plain'),
      ...(await memoryRows(web.door, tcp.door, child.pid ?? 0)),
    ]
  } finally {
    await plain.close()
    await endAll()
  }
}

/** Answers small and large, and sends everything back. */
async function openMachine(machine: string): Promise<void> {
  const { server } = await onMachine(machine, WEB, (req, res) => void res.end(req.url === '/large' ? LARGE : 'hello'))
  new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) =>
    socket.on('message', (data, binary) => socket.send(data, { binary })),
  )
  await listenOn(machine, TCP, (socket) =>
    socket.once('data', (first) => (String(first) === 'large' ? socket.end(LARGE) : socket.pipe(socket).write(first))),
  )
}

/** The median of each way, measured in turns. A fifth of the rounds comes first to warm up. */
async function compare(ways: Ways, rounds: number, measure: (way: Way) => Promise<number>) {
  const times: Record<keyof Ways, number[]> = { straight: [], plain: [], door: [] }
  for (let i = -Math.ceil(rounds / 5); i < rounds; i++)
    for (const name of ['straight', 'plain', 'door'] as const) {
      const ms = await measure(ways[name])
      if (i >= 0) times[name].push(ms)
    }
  return { straight: median(times.straight), plain: median(times.plain), door: median(times.door) }
}

type Compared = Awaited<ReturnType<typeof compare>>

const more = (what: string, { straight, plain, door }: Compared, budget: number): Row[] => [
  atMost(`${what}: more than straight to the machine`, door - straight, budget, 'ms', 2),
  told(`${what}: of that, the same Workers without our code`, `${(plain - straight).toFixed(2)} ms`),
]

const ratio = (what: string, { straight, plain, door }: Compared, to: 'straight' | 'plain' = 'straight'): Row[] => {
  const [toPlain, toStraight] = [
    'relative to the same Workers and processes without our code',
    'relative to straight to the machine',
  ]
  const [first, second] = to === 'plain' ? [toPlain, toStraight] : [toStraight, toPlain]
  const [a, b] = to === 'plain' ? [plain, straight] : [straight, plain]
  return [atMost(`${what}, ${first}`, door / a, 1.3, '×', 2), told(`${what}, ${second}`, `${(door / b).toFixed(2)} ×`)]
}

const agent = new Agent({ keepAlive: true })

function ask(way: Way, path: string): Promise<{ first: number; all: number }> {
  const since = performance.now()
  return new Promise((resolve, reject) => {
    get({ ...way, agent, path }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${way.host}:${way.port} answered ${answer.statusCode}`))
      let first = 0
      answer.on('data', () => {
        first ||= performance.now() - since
      })
      answer.on('end', () => resolve({ first, all: performance.now() - since })).on('error', reject)
    }).on('error', reject)
  })
}

const firstByte = async (way: Way) => (await ask(way, '/')).first
const download = async (way: Way) => (await ask(way, '/large')).all

/** How long a message takes, of those sent one after the other. */
async function bySocket({ host, port, headers }: Way): Promise<number> {
  const socket = new WebSocket(`ws://${host}:${port}/`, { headers, perMessageDeflate: false })
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
  const ms = await timed(async () => {
    for (let i = 0; i < MESSAGES; i++) {
      const back = new Promise((resolve) => socket.once('message', resolve))
      socket.send('ping')
      await back
    }
  })
  socket.terminate()
  return ms / MESSAGES
}

async function byTcp(way: Way): Promise<number> {
  const socket = await connected(way)
  const once = async () => {
    const back = new Promise((resolve) => socket.once('data', resolve))
    socket.write('ping')
    await back
  }
  await once()
  const ms = await timed(async () => {
    for (let i = 0; i < MESSAGES; i++) await once()
  })
  socket.destroy()
  return ms / MESSAGES
}

const downloadTcp = (way: Way) =>
  timed(async () => {
    const socket = await connected(way)
    socket.write('large')
    let bytes = 0
    for await (const chunk of socket) bytes += chunk.length
    if (bytes !== LARGE.length) throw new Error(`${bytes} bytes arrived`)
  })

async function connected({ host, port }: Way): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true })
  await new Promise((resolve, reject) => socket.on('connect', resolve).on('error', reject))
  return socket
}

async function memoryRows(web: Way, tcp: Way, command: number): Promise<Row[]> {
  // Only Linux tells without another program.
  if (process.platform !== 'linux') return []
  const workers = childProcesses().flatMap((child) => (child.command === 'workerd' ? child.pid : []))
  const byDoor = await growth(workers, () => download(web))
  const byForward = await growth([...workers, command], () => downloadTcp(tcp))
  return [
    atMost('door, growth of the Worker while 1 GB passes', byDoor, 64, 'MB'),
    atMost('forward, growth of the Worker and the command while 1 GB passes', byForward, 64, 'MB'),
  ]
}

/** By how many MB these processes grew at most while 1 GB passed, after the first 64 MB. */
async function growth(pids: number[], pass: () => Promise<unknown>): Promise<number> {
  const memory = () => pids.reduce((sum, pid) => sum + residentBytes(pid), 0)
  await pass()
  const before = memory()
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, memory())
  }, 50)
  for (let i = 0; i < TIMES_LARGE_IN_1_GB; i++) await pass()
  clearInterval(timer)
  return (most - before) / MB
}

const residentBytes = (pid: number) => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096
