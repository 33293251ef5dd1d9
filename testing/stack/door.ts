import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import { startStack } from '../../dev/stack.ts'
import type { TokenScope } from '../../src/domain/api-token.ts'
import type { Server } from '../../src/domain/wire/fleet.ts'
import { type Client, newPerson, PASSWORD, waitFor } from '../people/client.ts'
import { atEnd, temporaryFolder } from './at-end.ts'
import { quickHasher } from './quick-hasher.ts'

const DOOR_DOMAIN = 'door.localhost'

/** A stack of its own whose servers have doors. @param modules a changed Worker */
export async function openDoorStack(modules?: Parameters<typeof startStack>[1]) {
  const dataDir = temporaryFolder('door-stack')
  const options = { dataDir, ec2BootMs: 100, fleetSize: 50, doorDomain: DOOR_DOMAIN, log: () => {}, ...quickHasher }
  const stack = await startStack(options, modules)
  atEnd(() => stack.close())
  return stack
}

type Stack = Awaited<ReturnType<typeof openDoorStack>>
export type Answer = { status: number; headers: IncomingMessage['headers']; text: string }

/** Starts a server and waits until its door opens. */
async function startServer(person: Client): Promise<Server & { door_url: string; machine: string }> {
  await person.post('/api/v1/aws/auto_cloud_start_request', {})
  const server = await waitFor(async () => {
    const { body } = await person.get<{ servers: Server[] }>('/api/v1/servers/get_servers')
    return body.servers[0]?.door_url ? body.servers[0] : null
  })
  return { ...server, door_url: server.door_url as string, machine: server.ip_address as string }
}

/** A person whose server runs. */
export async function newRunner(stack: Pick<Stack, 'url'>, name = 'Ada') {
  const person = await newPerson(stack.url, name)
  return { person, server: await startServer(person) }
}

/** A program on the machine. Ports below 65536 that the door lists lead to it. */
export async function onMachine(machine: string, port: number, listener: RequestListener) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(port, machine, resolve))
  atEnd(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return { server, port: (server.address() as AddressInfo).port }
}

/** A TCP server on the machine: it may end its half first or last. */
export async function listenOn(machine: string, port: number, talk: (socket: Socket) => void): Promise<void> {
  const open = new Set<Socket>()
  const server = createTcpServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
    talk(socket)
  })
  await new Promise<void>((resolve, reject) => server.on('error', reject).listen(port, machine, resolve))
  atEnd(() => {
    for (const socket of open) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
}

/** A new API token of theirs. */
export async function newToken(person: Client, scope: TokenScope = 'operate') {
  const form = { name: `Token ${randomUUID()}`, scope, days: 1, current_password: PASSWORD }
  return (await person.post<{ token: string; id: string }>('/api_tokens', form)).body
}
export const tokenOf = async (...wanted: Parameters<typeof newToken>) => (await newToken(...wanted)).token

/** Asks without following redirects, with any headers and whatever the host's name. */
export function ask(
  address: string,
  headers: Record<string, string | string[]> = {},
  { method = 'GET', body = '' } = {},
): Promise<Answer> {
  const { host, port, pathname, search } = new URL(address)
  const length: Record<string, string> = body ? { 'content-length': String(Buffer.byteLength(body)) } : {}
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: '127.0.0.1',
        port,
        path: pathname + search,
        method,
        headers: { host, ...length, ...headers },
        agent: false,
      },
      async (answer) => {
        const text = Buffer.concat(await answer.toArray()).toString()
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text })
      },
    )
    asked.on('error', reject)
    asked.end(body)
  })
}

/** What a browser sends when someone opens a page. */
export const OPENS = { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none', accept: 'text/html' }

/** Follows the way in as the owner's browser does. @returns the door's cookie */
export async function cookieOf(person: Client, address: string): Promise<string> {
  const browser = newBrowser(person)
  await browser.open(address)
  return browser.cookie(address)
}

/** The doors' cookies of a browser, which `person` uses for the site. */
export function newBrowser(person: Client | null = null, { keeps = true } = {}) {
  const kept = new Map<string, Map<string, string>>()
  const cookieFor = ({ host }: URL) => [...(kept.get(host) ?? [])].map((pair) => pair.join('=')).join('; ')
  const get = async (address: string, headers: Record<string, string> = OPENS): Promise<Answer> => {
    const url = new URL(address)
    const answer = await ask(address, { ...headers, cookie: cookieFor(url) })
    const own = kept.get(url.host) ?? new Map<string, string>()
    kept.set(url.host, own)
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]*)=([^;]*)/.exec(line) ?? []
      if (keeps && !/;\s*domain=/i.test(line)) own.set(name, value)
    }
    return answer
  }
  /** Every address on the way, and the answer at its end: the site's, if nobody is signed in there. */
  const open = async (address: string, headers?: Record<string, string>) => {
    const way = [address]
    for (let at = address; ; way.push(at)) {
      const { host, pathname, search } = new URL(at)
      const isDoor = host.split(':')[0]?.endsWith(`.${DOOR_DOMAIN}`)
      if (!isDoor && !person) return { way, answer: null }
      const answer = isDoor ? await get(at, headers) : await person?.request('GET', pathname + search)
      const location = isDoor
        ? (answer as Answer).headers.location
        : (answer as { headers: Headers }).headers.get('location')
      if (!location) return { way, answer: answer as Answer }
      at = new URL(location, at).href
      if (way.length > 20) throw new Error(`It goes around: ${way.join(' ')}`)
    }
  }
  /** Ours, as the host of this address has it. */
  const cookie = (address: string) => {
    const value = kept.get(new URL(address).host)?.get('door')
    return value === undefined ? '' : `door=${value}`
  }
  return { get, open, cookie, kept }
}

/** A WebSocket to the door, and what came of it. */
export async function socketTo(address: string, headers: Record<string, string>, protocols: string[] = []) {
  const { host, port, pathname, search } = new URL(address)
  const socket = new WebSocket(`ws://127.0.0.1:${port}${pathname}${search}`, protocols, {
    headers: { host, ...headers },
    // As our command line: compressing random bytes took most of a test's time.
    perMessageDeflate: false,
  })
  const received: (string | Buffer)[] = []
  const state = { closed: null as number | null, refused: null as number | null }
  socket.on('message', (data, isBinary) => received.push(isBinary ? (data as Buffer) : String(data)))
  socket.on('close', (code) => (state.closed = code))
  socket.on('error', () => {})
  await new Promise<void>((resolve) => {
    socket.on('open', resolve)
    socket.on('unexpected-response', (_, { statusCode = 0 }) => {
      state.refused = statusCode
      resolve()
    })
  })
  atEnd(() => socket.terminate())
  return { socket, received, state }
}
