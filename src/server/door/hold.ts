import type { Fetcher, WebSocket as WorkerSocket } from '@cloudflare/workers-types'
import { ACCESS_ENDED } from '../../domain/door.ts'
import type { Held } from './access.ts'

/** Only our own Worker can send this: the keeper has no address. */
export const KEEP_HEADER = 'x-door-keep'

/** `isHeld`: false if the keeper has too many already, or can't be asked. */
type Holding = { ended: Promise<void>; isHeld: Promise<boolean>; release(): void }

/** A user's keeper (door-keeper.ts). */
export type Keeper = Pick<Fetcher, 'fetch'>

const TRIES = 5
const AGAIN_MS = 300

/**
 * Asks the keeper to say when this access ends. If the keeper can't be asked, or has too many, it counts as ended.
 * @param openKeeper a stub of its own for each try: one whose object fell over, in a deploy for example, keeps failing
 */
export function hold(openKeeper: () => Keeper, held: Held): Holding {
  let socket: WorkerSocket | null = null
  let released = false
  let tell = () => {}
  let took = (_: boolean) => {}
  const isHeld = new Promise<boolean>((resolve) => {
    took = resolve
  })
  const ended = new Promise<void>((resolve) => {
    tell = resolve
  })
  const connect = async (left: number): Promise<void> => {
    if (released) return
    try {
      const headers = { upgrade: 'websocket', [KEEP_HEADER]: JSON.stringify(held) }
      const answer = await openKeeper().fetch('http://keeper/hold', { headers } as never)
      if (answer.status === 429) {
        took(false)
        return tell()
      }
      socket = (answer as unknown as { webSocket: WorkerSocket | null }).webSocket
      if (!socket) throw new Error('no socket')
    } catch {
      if (left > 0) setTimeout(() => void connect(left - 1), AGAIN_MS)
      else tell()
      if (left === 0) took(false)
      return
    }
    took(true)
    socket.accept()
    if (released) return socket.close(1000)
    socket.addEventListener('close', ({ code }) => {
      if (code === ACCESS_ENDED) tell()
      else void connect(TRIES)
    })
  }
  void connect(TRIES)
  return {
    ended,
    isHeld,
    release() {
      released = true
      socket?.close(1000)
    },
  }
}

/** Why a request ends that would be one too many. */
export const FULL = new Error('too many are open')

/** Most requests finish sooner and need no watch. */
const LONG_MS = 500

/** Ends a request when its visitor loses access or leaves: while it is being sent, while it waits, and while its answer arrives. */
export function whileAllowed(
  openKeeper: () => Keeper,
  held: Held,
  visitor: AbortSignal,
): { signal: AbortSignal; release(): void } {
  const stop = new AbortController()
  let release = () => {}
  const timer = setTimeout(() => {
    const holding = hold(openKeeper, held)
    release = holding.release
    void holding.isHeld.then((isHeld) => isHeld || stop.abort(FULL))
    void holding.ended.then(() => stop.abort(new Error('access ended')))
  }, LONG_MS)
  const end = () => {
    clearTimeout(timer)
    release()
    release = () => {}
  }
  // There may be no other sign: the runtime doesn't cancel an answer that they stopped reading.
  visitor.addEventListener('abort', () => {
    end()
    stop.abort(visitor.reason)
  })
  return { signal: stop.signal, release: end }
}
