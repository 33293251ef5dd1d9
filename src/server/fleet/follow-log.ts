import type { Fetcher, WebSocket as WorkerSocket } from '@cloudflare/workers-types'
import { HOUR_MS } from '../../domain/instant.ts'
import type { LogPart } from '../../domain/run-log.ts'

const STREAM_MS = 12 * HOUR_MS
const COMMENT_MS = 15_000

/**
 * Server-sent events, one per line. The run's object sends a part once the previous one has been taken, so a slow
 * reader doesn't fill anyone's memory. Null if it has enough readers.
 * @param holding says when the reader loses access; released when the stream ends, or if there is none
 */
export async function followLog(
  log: Pick<Fetcher, 'fetch'>,
  { after, isOver }: { after: number; isOver: boolean },
  holding: { ended: Promise<void>; release(): void },
): Promise<ReadableStream<Uint8Array> | null> {
  const socket = await openSocket(log, isOver).catch((error) => {
    holding.release()
    throw error
  })
  if (!socket) {
    holding.release()
    return null
  }
  socket.accept()
  const encoder = new TextEncoder()
  const until = Date.now() + STREAM_MS
  const leave = () => {
    socket.close(1000)
    holding.release()
  }
  // A reader who has stopped reading asks for nothing more, and would keep others from this log.
  const ended = holding.ended.then(() => {
    leave()
    return 'gone' as const
  })
  let at = after
  let asked: Promise<LogPart | 'gone'> | null = null
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      asked ??= askAfter(socket, at)
      const part = await Promise.race([asked, ended, pause()])
      // Also keeps proxies from closing a quiet connection.
      if (part === 'quiet' && Date.now() < until) return controller.enqueue(encoder.encode(':\n\n'))
      asked = null
      if (part === 'quiet' || part === 'gone') {
        leave()
        return controller.close()
      }
      at = part.next
      const events = part.lines.map((line) => `id: ${line.n}\ndata: ${JSON.stringify(line)}\n\n`).join('')
      const end = part.complete ? 'event: end\ndata: {}\n\n' : ''
      controller.enqueue(encoder.encode(events + end))
      if (!part.complete) return
      leave()
      controller.close()
    },
    cancel: leave,
  })
}

async function openSocket(log: Pick<Fetcher, 'fetch'>, isOver: boolean): Promise<WorkerSocket | null> {
  const answer = await log.fetch(`http://log/${isOver ? '?over' : ''}`, { headers: { upgrade: 'websocket' } })
  return (answer as unknown as { webSocket: WorkerSocket | null }).webSocket
}

/** `gone`: the object fell over, in a deploy for example. The reader comes back. */
function askAfter(socket: WorkerSocket, after: number): Promise<LogPart | 'gone'> {
  return new Promise((resolve) => {
    socket.addEventListener('message', ({ data }) => resolve(JSON.parse(String(data)) as LogPart), { once: true })
    socket.addEventListener('close', () => resolve('gone'), { once: true })
    if (socket.readyState === WebSocket.OPEN) socket.send(`${after}`)
    else resolve('gone')
  })
}

const pause = () => new Promise<'quiet'>((resolve) => setTimeout(() => resolve('quiet'), COMMENT_MS))
