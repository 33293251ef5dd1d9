import type { Socket } from 'node:net'
import WebSocket from 'ws'
import { ACCESS_ENDED } from '../../src/domain/door.ts'
import { FORWARD_PROTOCOL, reporter, Window } from '../../src/domain/forward.ts'
import { jsonOf, refusalOf, withoutAnswer } from './api.ts'
import type { Failure } from './failure.ts'
import type { Site } from './site.ts'

const OPEN_WITHIN_MS = 10_000
/** A connection that stays silent for two of them is lost, though nobody said so. */
const PING_EVERY_MS = 15_000
const END_OF_HALF = Buffer.alloc(0)
const DONE = 1000

/**
 * How a connection ended: `silent` without a byte from the machine, `refused` before it began, `lost` on the way, `shut`
 * because the run or the token ended.
 */
export type Ending = { how: 'done' | 'silent' | 'lost' | 'shut' } | { how: 'refused' | 'unreachable'; failure: Failure }

/**
 * Carries one connection of this computer to a port of the server, in the frames of a WebSocket. Both are over once it
 * resolves.
 */
export function carry(
  site: Site,
  to: { serverId: string; port: number },
  local: Socket,
  { onOpen, signal }: { onOpen: () => void; signal: AbortSignal },
): Promise<Ending> {
  const address = `${site.url.replace('http', 'ws')}/api/v1/servers/${to.serverId}/tcp/${to.port}`
  const socket = new WebSocket(address, FORWARD_PROTOCOL, {
    headers: { Authorization: `Bearer ${site.token}` },
    handshakeTimeout: OPEN_WITHIN_MS,
    // The bytes are often compressed already, and this would cost five times as much as all the rest.
    perMessageDeflate: false,
  })
  const ahead = new Window()
  let hasAnswered = false
  let isSilent = false
  let isAlive = true
  let isOpen = false

  return new Promise<Ending>((resolve) => {
    const pinging = setInterval(() => {
      if (socket.readyState !== WebSocket.OPEN) return
      if (!isAlive) return socket.terminate()
      isAlive = false
      socket.ping()
    }, PING_EVERY_MS)
    let isOver = false
    const finish = (ending: Ending) => {
      if (isOver) return
      isOver = true
      clearInterval(pinging)
      signal.removeEventListener('abort', stop)
      ahead.release()
      socket.terminate()
      // What came in order stays readable; anything else must not look like the end of the data.
      if (ending.how === 'done' || ending.how === 'silent') local.destroySoon()
      else local.resetAndDestroy()
      resolve(ending)
    }
    const stop = () => finish({ how: 'lost' })
    signal.addEventListener('abort', stop)

    // The program here broke it off.
    local.on('error', () => finish({ how: 'done' }))
    local.on('close', () => local.readableEnded || finish({ how: 'done' }))

    socket.on('open', () => {
      isOpen = true
      onOpen()
      local.on('data', (bytes) => {
        ahead.sent(bytes.length)
        socket.send(bytes)
        if (ahead.isFull()) {
          local.pause()
          void ahead.room().then(() => local.resume())
        }
      })
      local.resume()
      local.on('end', () => socket.readyState === WebSocket.OPEN && socket.send(END_OF_HALF))
    })
    const report = reporter((bytes) => socket.readyState === WebSocket.OPEN && socket.send(String(bytes)))
    socket.on('message', (data: Buffer, isBinary) => {
      isAlive = true
      if (!isBinary) return ahead.passedOn(Number(data.toString()) || 0)
      if (!data.length) {
        isSilent = !hasAnswered && !local.readableEnded
        return void local.end()
      }
      hasAnswered = true
      local.write(data, () => report(data.length))
    })
    socket.on('pong', () => {
      isAlive = true
    })
    socket.on('close', (code) => {
      if (code === DONE) finish({ how: isSilent ? 'silent' : 'done' })
      else finish({ how: code === ACCESS_ENDED ? 'shut' : 'lost' })
    })
    socket.on('unexpected-response', async (_, answer) => {
      const soon = { signal: AbortSignal.timeout(OPEN_WITHIN_MS) }
      const text = Buffer.concat(await answer.toArray(soon).catch(() => [])).toString()
      const response = {
        status: answer.statusCode ?? 0,
        headers: new Headers({ location: answer.headers.location ?? '' }),
      }
      finish({ how: 'refused', failure: refusalOf(site, response, jsonOf(text)) })
    })
    socket.on('error', (cause) =>
      finish(isOpen ? { how: 'lost' } : { how: 'unreachable', failure: withoutAnswer(site, cause) }),
    )
  })
}
