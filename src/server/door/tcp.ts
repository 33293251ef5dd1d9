import type { Door } from '../../domain/door.ts'
import { AppError } from '../../domain/error.ts'
import { FORWARD_PROTOCOL, reporter, Window } from '../../domain/forward.ts'
import type { Context } from '../context.ts'
import { doorQuery, type Pass } from './access.ts'
import { ACCESS_ENDED } from './door-keeper.ts'
import { hold, type Keeper } from './hold.ts'

/** What a client without windows may have in flight to a machine that doesn't read. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024
const DONE = 1000
const UNREACHABLE = 4002
const TOO_MUCH = 1009

/**
 * Carries one TCP connection to the user's machine in the frames of a WebSocket: see src/domain/forward.ts.
 * @throws not_found for another user's run, and for any port that isn't listed; conflict while it isn't running
 */
export async function openTcp(
  ctx: Context,
  door: Door,
  { userId, pass }: { userId: string; pass: Pass },
  { runId, port, protocols }: { runId: string; port: number; protocols: string[] },
  keeper: (userId: string) => Keeper,
): Promise<Response> {
  const [found] = await doorQuery(ctx, { runId })
  if (found?.userId !== userId || !ctx.machine) throw new AppError('not_found', 'Server not found.')
  if (!door.tcpPorts.includes(port))
    throw new AppError('not_found', `Port ${port} isn't open. These are: ${door.tcpPorts.join(', ')}.`)
  if (found.state !== 'open') throw new AppError('conflict', 'This server is not running.')

  const hasWindows = protocols.includes(FORWARD_PROTOCOL)
  const pair = new WebSocketPair()
  const client = pair[1]
  client.accept()
  client.binaryType = 'arraybuffer'
  const socket = ctx.machine.connect(`${found.address}:${port}`)
  const holding = hold(() => keeper(userId), { runId, pass })
  let isOver = false
  const end = (code: number, reason: string) => {
    if (isOver) return
    isOver = true
    holding.release()
    try {
      client.close(code, reason)
    } catch {}
    void socket.close().catch(() => {})
  }
  void holding.ended.then(() => end(ACCESS_ENDED, 'access ended'))

  const window = new Window()
  const writer = socket.writable.getWriter()
  const report = reporter((bytes) => !isOver && client.send(String(bytes)))
  let waiting = 0
  let order = Promise.resolve()
  const failed = () => end(UNREACHABLE, `nothing answers on port ${port}`)
  client.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') return hasWindows ? window.passedOn(Number(data) || 0) : undefined
    const bytes = new Uint8Array(data as ArrayBuffer)
    if (!bytes.length) {
      if (hasWindows) order = order.then(() => writer.close()).catch(failed)
      return
    }
    waiting += bytes.length
    if (waiting > MOST_WAITING_BYTES) return end(TOO_MUCH, "the server doesn't read")
    order = order
      .then(() => writer.write(bytes))
      .then(() => {
        waiting -= bytes.length
        if (hasWindows) report(bytes.length)
      })
      .catch(failed)
  })
  client.addEventListener('close', () => end(DONE, ''))
  client.addEventListener('error', () => end(DONE, ''))

  const receive = async () => {
    for await (const bytes of socket.readable as AsyncIterable<Uint8Array>) {
      if (hasWindows) await window.room()
      if (isOver) return
      window.sent(bytes.length)
      client.send(bytes)
    }
    if (!hasWindows) return end(DONE, '')
    if (!isOver) client.send(new Uint8Array(0))
    // Their half may go on.
    await writer.closed
    end(DONE, '')
  }
  ctx.background(receive().catch(failed))
  const headers: Record<string, string> = hasWindows ? { 'sec-websocket-protocol': FORWARD_PROTOCOL } : {}
  return new Response(null, { status: 101, webSocket: pair[0], headers } as ResponseInit)
}
