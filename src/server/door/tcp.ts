import type { WebSocket as WorkerSocket } from '@cloudflare/workers-types'
import { ACCESS_ENDED, type Door } from '../../domain/door.ts'
import { AppError } from '../../domain/error.ts'
import { FORWARD_PROTOCOL, IN_TURN_PROTOCOL, reporter, Window } from '../../domain/forward.ts'
import type { MachineSocket } from '../ports/machine.ts'
import type { Context } from '../runtime/context.ts'
import { doorQuery, type FoundDoor, type Pass } from './access.ts'
import { briefly } from './briefly.ts'
import { hold, type Keeper } from './hold.ts'

/** The most in flight from all clients of an isolate, which has 128 MB, to machines that don't read. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024
/** The size of a read: twice what arrived last. A small frame costs as much as a large one, and each connection has its own buffer. */
const LEAST_READ_BYTES = 16 * 1024
const MOST_READ_BYTES = 256 * 1024
/** After a client closes, the machine gets this long to take the rest. */
const REST_MS = 10_000
/** After any other end, the machine gets this long to take what was sent. */
const UNTAKEN_MS = 500
const DONE = 1000
const TOO_MUCH = 1009
const FAILED = 4002
const TOO_MANY = 'too many connections are open'

const doors = briefly<FoundDoor | null>()

/** What the machines have waiting for them in this isolate, in bytes, by address. Most have nothing. */
const waiting = new Map<string, number>()
let waitingInAll = 0

/**
 * @param bytes more, or fewer
 * @returns whether this machine has more than its share of what is too much. A request can't end another's connection.
 */
function countWaiting(machine: string, bytes: number): boolean {
  const its = (waiting.get(machine) ?? 0) + bytes
  if (its > 0) waiting.set(machine, its)
  else waiting.delete(machine)
  waitingInAll += bytes
  return waitingInAll > MOST_WAITING_BYTES && its > MOST_WAITING_BYTES / waiting.size
}

/**
 * Where this connection would lead.
 * @throws not_found for another user's run, and for any port that isn't listed; conflict while it isn't running
 */
export async function findTcpAddress(
  ctx: Context,
  door: Door,
  userId: string,
  { runId, port }: { runId: string; port: number },
): Promise<string> {
  const found = await doors.find(
    `${ctx.config.secretKey} ${runId}`,
    async () => (await doorQuery(ctx, { runIds: [runId] }))[0] ?? null,
  )
  if (found?.userId !== userId) throw new AppError('not_found', 'Server not found.')
  if (!door.tcpPorts.includes(port))
    throw new AppError('not_found', `Port ${port} isn't open. These are: ${door.tcpPorts.join(', ')}.`)
  if (found.state === 'starting') throw new AppError('not_running', 'This server is still starting.')
  if (found.state !== 'open') throw new AppError('not_running', 'This server is not running.')
  return `${found.address}:${port}`
}

/** Carries one TCP connection to this address in the frames of a WebSocket: see src/domain/forward.ts. */
export function openTcp(
  ctx: Context,
  address: string,
  { runId, pass, protocols }: { runId: string; pass: Pass; protocols: string[] },
  openKeeper: () => Keeper,
): Response {
  const { machine } = ctx
  if (!machine) throw new Error('no network')
  const protocol = [IN_TURN_PROTOCOL, FORWARD_PROTOCOL].find((known) => protocols.includes(known))
  const pair = new WebSocketPair()
  const client = pair[1]
  client.accept()
  client.binaryType = 'arraybuffer'
  const holding = hold(openKeeper, { runId, pass })
  const begin = () => {
    const to = { socket: machine.connect(address), machine: address.slice(0, address.lastIndexOf(':')) }
    ctx.background(carry(client, to, holding, protocol))
  }
  if (protocol !== IN_TURN_PROTOCOL) begin()
  else {
    const leave = () => holding.release()
    let isWaiting = true
    // A client that hasn't heard of its end yet may still ask for its turn: the machine must not see it.
    const refuse = (code: number, why: string) => {
      if (isWaiting) client.close(code, why)
      isWaiting = false
    }
    client.addEventListener('close', leave)
    void holding.isHeld.then((isHeld) => isHeld || refuse(FAILED, TOO_MANY))
    void holding.ended.then(() => refuse(ACCESS_ENDED, 'access ended'))
    const onTurn = ({ data }: { data: string | ArrayBuffer }) => {
      // Bytes before the turn would be lost.
      if (typeof data !== 'string') return refuse(1002, 'not your turn yet')
      if (!isWaiting) return
      isWaiting = false
      client.removeEventListener('close', leave)
      begin()
    }
    client.addEventListener('message', onTurn, { once: true })
  }
  const headers: Record<string, string> = protocol === undefined ? {} : { 'sec-websocket-protocol': protocol }
  return new Response(null, { status: 101, webSocket: pair[0], headers } as ResponseInit)
}

async function carry(
  client: WorkerSocket,
  { socket, machine }: { socket: MachineSocket; machine: string },
  holding: ReturnType<typeof hold>,
  protocol: string | undefined,
): Promise<void> {
  const hasWindows = protocol !== undefined
  const writer = socket.writable.getWriter()
  const reader = socket.readable.getReader({ mode: 'byob' })
  const window = new Window()
  let isOver = false
  let hasAnswered = false
  let hasLeft = false
  let waitingHere = 0

  const end = (code: number, reason: string) => {
    if (isOver) return
    isOver = true
    holding.release()
    window.release()
    try {
      client.close(code, reason)
    } catch {}
    countWaiting(machine, -waitingHere)
    for (const left of [reader.cancel(), socket.close()]) left.catch(() => {})
    // If we aborted right away, the machine wouldn't notice the end. What it doesn't take by then is lost.
    setTimeout(() => writer.abort().catch(() => {}), UNTAKEN_MS)
  }
  const fail = () => end(FAILED, hasAnswered ? 'the connection was reset' : 'nothing answers there')
  void holding.isHeld.then((isHeld) => isHeld || end(FAILED, TOO_MANY))
  void holding.ended.then(() => end(ACCESS_ENDED, 'access ended'))

  const report = reporter((bytes) => !isOver && client.send(String(bytes)))
  let order = Promise.resolve()
  client.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') return hasWindows ? window.passedOn(Number(data) || 0) : undefined
    const bytes = new Uint8Array(data as ArrayBuffer)
    if (!bytes.length) {
      if (hasWindows) order = order.then(() => writer.close()).catch(fail)
      return
    }
    if (isOver) return
    waitingHere += bytes.length
    if (countWaiting(machine, bytes.length)) return end(TOO_MUCH, "the server doesn't read")
    order = order
      .then(() => writer.write(bytes))
      .then(() => {
        if (!isOver) {
          waitingHere -= bytes.length
          countWaiting(machine, -bytes.length)
        }
        if (hasWindows) report(bytes.length)
      })
      .catch(fail)
  })
  client.addEventListener('close', ({ code }) => {
    if (code !== DONE) return end(DONE, '')
    // The client has sent everything. What is waiting still belongs to the machine, which then ends its half.
    hasLeft = true
    window.release()
    order = order.then(() => writer.close()).catch(fail)
    setTimeout(() => end(DONE, ''), REST_MS)
  })
  client.addEventListener('error', () => hasLeft || end(DONE, ''))

  const receive = async () => {
    let room = LEAST_READ_BYTES
    while (!isOver) {
      if (hasWindows) await window.room()
      const { done, value } = await reader.read(new Uint8Array(room))
      if (done || isOver) break
      hasAnswered = true
      if (!hasLeft) {
        window.sent(value.length)
        client.send(value)
      }
      room = Math.min(Math.max(2 * value.length, LEAST_READ_BYTES), MOST_READ_BYTES)
    }
    if (hasWindows && !isOver && !hasLeft) client.send(new Uint8Array(0))
    // The client may still be sending, or its last bytes are on their way.
    if (hasWindows || hasLeft) await writer.closed
    end(DONE, '')
  }
  // Tells the client that the machine has seen this connection, so that the next may follow.
  void socket.opened.then(() => protocol === IN_TURN_PROTOCOL && !isOver && client.send('0')).catch(() => {})
  await receive().catch(fail)
}
