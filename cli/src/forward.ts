import { setMaxListeners } from 'node:events'
import { type AddressInfo, createServer, type Server as Listener, type Socket } from 'node:net'
import { InvalidArgumentError } from 'commander'
import { canStop } from '../../src/domain/server.ts'
import type { Server } from '../../src/domain/wire/fleet.ts'
import { checkTcp, getUser, listServers } from './api.ts'
import { carry, type Ending } from './carry.ts'
import { EXIT, Failure } from './failure.ts'
import { follow } from './follow.ts'
import { currentSite, type Site, type SiteOptions } from './site.ts'
import { note, say } from './terminal.ts'

/** A port of the server, and the local port that leads to it. 0 takes any free one. */
export type PortPair = { port: number; localPort: number }
const HERE = '127.0.0.1'

/** Collects `41451` and `5760:15760`. @throws if it is something else */
export function portPairs(text: string, before: PortPair[] = []): PortPair[] {
  const [, port = 0, localPort = port] = (/^(\d{1,5})(?::(\d{1,5}))?$/.exec(text) ?? []).map(Number)
  const local = Number.isNaN(localPort) ? port : localPort
  if (port < 1 || port > 65_535 || local > 65_535)
    throw new InvalidArgumentError('Write a port like 41451, or 5760:15760 for 127.0.0.1:15760 on this computer.')
  if (local && before.some((pair) => pair.localPort === local))
    throw new InvalidArgumentError(`Port ${local} of this computer can only lead to one port.`)
  return [...before, { port, localPort: local }]
}

/** Forwards local ports to the server until Ctrl-C, or until the server stops. */
export async function forward(pairs: PortPair[], options: SiteOptions & { server?: string }): Promise<void> {
  const site = currentSite(options)
  const [user, servers] = await Promise.all([getUser(site), listServers(site)])
  const server = chosen(servers.filter(canStop), options.server)
  if (!server.billed_from)
    throw new Failure(EXIT.refused, 'Your server is still starting. Follow it with: proving-ground status --watch')
  if (!server.door_url)
    throw new Failure(EXIT.noDoor, 'This server has no private address that ports can be reached by.')
  for (const { port } of pairs) await checkTcp(site, server.id, port)

  const ended = new AbortController()
  // Each open connection listens to it, and Node takes more than ten for a leak.
  setMaxListeners(0, ended.signal)
  const listening: { port: number; listener: Listener }[] = []
  try {
    for (const pair of pairs)
      listening.push({ port: pair.port, listener: await listen(pair, accept(site, server, pair, ended)) })
    for (const { port, listener } of listening)
      say(`Port ${port} of ${server.name ?? 'your server'} is at ${HERE}:${(listener.address() as AddressInfo).port}`)
    note('Press Ctrl-C to end this.')
    await untilOver(site, user.id, server, ended.signal)
    note(`${server.name ?? 'Your server'} stopped.`)
  } finally {
    ended.abort()
    for (const { listener } of listening) listener.close()
  }
}

function chosen(live: Server[], wanted: string | undefined): Server {
  const found = wanted === undefined ? live : live.filter(({ id, name }) => id === wanted || name === wanted)
  if (found.length === 1) return found[0] as Server
  if (!live.length) throw new Failure(EXIT.refused, 'No server is running. Start one with: proving-ground start --wait')
  const names = live.map(({ id, name }) => (name ? `${id} (${name})` : id)).join(', ')
  throw new Failure(
    found.length ? EXIT.usage : EXIT.refused,
    wanted === undefined
      ? `${live.length} servers are running. Choose one with --server: ${names}`
      : `--server ${wanted} fits ${found.length} running servers. These are running: ${names}`,
  )
}

/** @throws Failure if this computer doesn't allow it */
async function listen({ port, localPort }: PortPair, onConnection: (local: Socket) => void): Promise<Listener> {
  const listener = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, onConnection)
  return new Promise((resolve, reject) => {
    listener.on('error', (cause) => reject(cannotListen(port, localPort, cause)))
    listener.listen(localPort, HERE, () => resolve(listener))
  })
}

export function cannotListen(port: number, localPort: number, cause: NodeJS.ErrnoException): Failure {
  const other = `Choose another port of this computer: proving-ground forward ${port}:${localPort < 10_000 ? localPort + 10_000 : 0}`
  if (cause.code === 'EADDRINUSE')
    return new Failure(EXIT.portTaken, `Another program uses ${HERE}:${localPort}. ${other}`)
  if (cause.code === 'EACCES')
    return new Failure(EXIT.portProtected, `Only an administrator may listen on ${HERE}:${localPort}. ${other}`)
  return new Failure(EXIT.refused, `Can't listen on ${HERE}:${localPort} (${cause.code}).`)
}

/** Carries each connection. Reports a problem once, until a connection works again. */
function accept(site: Site, server: Server, { port }: PortPair, ended: AbortController) {
  let said = ''
  let isUnreachable = false
  const tell = (sentence: string) => {
    if (sentence !== said) note(`${port}: ${sentence}`)
    said = sentence
  }
  return async (local: Socket) => {
    const onOpen = () => {
      if (isUnreachable) tell('Connected again.')
      isUnreachable = false
    }
    const ending = await carry(site, { serverId: server.id, port }, local, { onOpen, signal: ended.signal })
    // The code that follows the run says why.
    if (ended.signal.aborted || ending.how === 'shut') return
    if (ending.how === 'done') said = ''
    else if (ending.how === 'refused' && ending.failure.exitCode === EXIT.notSignedIn) ended.abort(ending.failure)
    else {
      isUnreachable = ending.how === 'unreachable'
      tell(troubleText(ending, port))
    }
  }
}

function troubleText(ending: Ending, port: number): string {
  switch (ending.how) {
    case 'refused':
    case 'unreachable':
      return ending.failure.message
    case 'silent':
      return `Nothing came back. Does a program listen on port ${port} of the server?`
    default:
      return 'A connection broke off. Programs can connect again.'
  }
}

/** @throws Failure after Ctrl-C, or once the token no longer counts */
function untilOver(site: Site, userId: string, server: Server, ended: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onInterrupt = () => finish(() => reject(new Failure(EXIT.interrupted, '')))
    const onAbort = () => finish(() => reject(ended.reason))
    const look = (seen: Server | undefined) => {
      if (!seen || !canStop(seen)) finish(resolve)
    }
    const unfollow = follow(site, userId, {
      onJob: (job) => job.server?.id === server.id && look(job.server),
      onServers: (servers) => look(servers.find(({ id }) => id === server.id)),
      onFailure: (failure) => finish(() => reject(failure)),
    })
    process.once('SIGINT', onInterrupt)
    ended.addEventListener('abort', onAbort)
    function finish(settle: () => void) {
      process.off('SIGINT', onInterrupt)
      ended.removeEventListener('abort', onAbort)
      unfollow()
      settle()
    }
  })
}
