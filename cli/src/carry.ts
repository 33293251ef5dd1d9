import type { Socket } from 'node:net'
import WebSocket from 'ws'
import { ACCESS_ENDED } from '../../src/domain/door.ts'
import { IN_TURN_PROTOCOL, reporter, Window } from '../../src/domain/forward.ts'
import { type NotOpen, openTcp, type Port, takePlace } from './open-tcp.ts'
import type { Site } from './site.ts'

/** A connection that stays silent for two of them is lost, even if nothing reported that. */
const PING_EVERY_MS = 15_000
/** A port that takes longer to answer no longer holds up the next connection. */
const TURN_MS = 2_000
const END_OF_HALF = Buffer.alloc(0)
const DONE = 1000

/**
 * How a connection ended: `silent` without a byte from the machine, `refused` before it began, `lost` on the way, `shut`
 * because the run or the token ended.
 */
export type Ending = { how: 'done' | 'silent' | 'lost' | 'shut' } | NotOpen

/**
 * Carries one connection of this computer to a port of the server, in the frames of a WebSocket. Both are over once it
 * resolves.
 */
export async function carry(
  site: Site,
  to: Port,
  local: Socket,
  { onOpen, signal }: { onOpen: () => void; signal: AbortSignal },
): Promise<Ending> {
  // The program on this computer broke it off, perhaps before it began.
  local.on('error', () => {})
  const place = takePlace(to)
  const socket = await openTcp(site, to, signal)
  if (!(socket instanceof WebSocket)) {
    place.pass()
    local.resetAndDestroy()
    return socket
  }
  onOpen()
  const ahead = new Window()
  let hasAnswered = false
  let isSilent = false
  let isAlive = true

  return new Promise<Ending>((resolve) => {
    let pinging: NodeJS.Timeout | undefined
    let passing: NodeJS.Timeout | undefined
    const begin = () => {
      if (isOver) return
      pinging = setInterval(() => {
        if (socket.readyState !== WebSocket.OPEN) return
        if (!isAlive) return socket.terminate()
        isAlive = false
        socket.ping()
      }, PING_EVERY_MS)
      if (socket.protocol === IN_TURN_PROTOCOL) {
        socket.send('0')
        passing = setTimeout(place.pass, TURN_MS)
      } else place.pass()
      socket.resume()
      local.resume()
    }
    let isOver = false
    const finish = (ending: Ending) => {
      if (isOver) return
      isOver = true
      clearInterval(pinging)
      clearTimeout(passing)
      place.pass()
      signal.removeEventListener('abort', stop)
      ahead.release()
      socket.terminate()
      // What arrived in order stays readable. Nothing else may look like the end of the data.
      if (ending.how === 'done' || ending.how === 'silent') local.destroySoon()
      else local.resetAndDestroy()
      resolve(ending)
    }
    const stop = () => finish({ how: 'lost' })
    signal.addEventListener('abort', stop)

    local.on('error', () => finish({ how: 'done' }))
    local.on('close', () => local.readableEnded || finish({ how: 'done' }))

    local.on('data', (bytes) => {
      ahead.sent(bytes.length)
      socket.send(bytes)
      if (ahead.isFull()) {
        local.pause()
        void ahead.room().then(() => local.resume())
      }
    })
    local.on('end', () => socket.readyState === WebSocket.OPEN && socket.send(END_OF_HALF))
    const report = reporter((bytes) => socket.readyState === WebSocket.OPEN && socket.send(String(bytes)))
    socket.on('message', (data: Buffer, isBinary) => {
      isAlive = true
      place.pass()
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
    socket.on('error', () => finish({ how: 'lost' }))
    if (local.destroyed) return finish({ how: 'done' })
    if (signal.aborted || socket.readyState !== WebSocket.OPEN) return finish({ how: 'lost' })
    void place.comes.then(begin)
  })
}
