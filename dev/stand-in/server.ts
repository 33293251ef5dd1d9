import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Store } from './store.ts'

export type StandInOptions = {
  /** Holds all state. Restart with the same directory to get it back. */
  dataDir: string
  /** The stack's clock, in ms since 1970. */
  now?: () => number
  log?: (sentence: string) => void
}

export type Asked = { method: string; url: URL; headers: IncomingHttpHeaders; body: string }

/** An answer, or `lost` (hangs up), or `unanswered` (leaves the caller waiting). */
export type Outcome = { status: number; headers: Record<string, string>; body: string } | 'lost' | 'unanswered'

/** Serves calls on the last port, or on another one if that is taken: then `movedFrom` is the old address. */
export async function listenWhereBefore(store: Store) {
  const server = createServer()
  const { url, movedFrom } = await listenAgain(server, store)
  return {
    url,
    movedFrom,
    serve(answer: (asked: Asked) => Outcome | Promise<Outcome>) {
      server.on('request', async (request, response) => {
        const body = await text(request).catch(() => null)
        // The caller hung up.
        if (body === null) return
        const { method = 'GET', headers } = request
        const outcome = await answer({ method, url: new URL(request.url ?? '/', url), headers, body })
        if (outcome === 'unanswered') return
        if (outcome === 'lost') return response.destroy()
        // Keep-alive would leave clients with dead connections after a restart on the same port.
        response.writeHead(outcome.status, { ...outcome.headers, connection: 'close' }).end(outcome.body)
      })
    },
    close: () => closeAll(server),
  }
}

export async function closeAll(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
}

/** On the last port, if it is free, so that links from before still work. */
export async function listenAgain(server: Server, store: Store): Promise<{ url: string; movedFrom: string | null }> {
  const before = store.get<{ port: number }>('settings', 'address')?.port
  await listen(server, before ?? 0).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    return listen(server, 0)
  })
  const { port } = server.address() as { port: number }
  store.put('settings', 'address', { port })
  store.commit()
  return { url: address(port), movedFrom: before !== undefined && before !== port ? address(before) : null }
}

function address(port: number): string {
  return `http://127.0.0.1:${port}`
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
}
