import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'

type Line = {
  /** Loses the site's answer to these requests. */
  loses?: (path: string) => boolean
  /** Holds a request back until this resolves. */
  onRequest?: (path: string) => unknown
  /** Answers in the site's place: that it's too early, and in how many seconds it isn't. */
  limits?: (path: string) => number | null
  /** Changes the site's answer. */
  rewrite?: (path: string, text: string) => string
  /** Lets WebSockets through. */
  cable?: boolean
}

/** A proxy between a program and the site at `url`. */
export async function openLine(url: string, { loses, onRequest, limits, rewrite, cable = false }: Line) {
  const pass = ({ url: path, method, headers }: IncomingMessage) => {
    const plain = rewrite ? { ...headers, 'accept-encoding': 'identity' } : headers
    return request(url + path, { method, headers: plain })
  }
  const server = createServer(async (asked, answer) => {
    const path = asked.url ?? ''
    await onRequest?.(path)
    const seconds = limits?.(path) ?? null
    if (seconds !== null) {
      const headers = { 'Content-Type': 'application/json', 'Retry-After': seconds }
      return answer.writeHead(429, headers).end(JSON.stringify({ code: 'too_many', error: 'That was too early.' }))
    }
    const passed = pass(asked)
    passed.on('response', async (theirs) => {
      if (loses?.(path)) return theirs.resume().on('end', () => asked.socket.destroy())
      if (rewrite) {
        const text = rewrite(path, Buffer.concat(await theirs.toArray()).toString())
        const { 'content-length': _, 'transfer-encoding': __, ...headers } = theirs.headers
        return answer.writeHead(theirs.statusCode ?? 502, headers).end(text)
      }
      answer.writeHead(theirs.statusCode ?? 502, theirs.headers)
      return theirs.pipe(answer)
    })
    asked.pipe(passed)
  })
  server.on('upgrade', (asked, near) => {
    near.on('error', () => {})
    if (!cable) return near.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    const passed = pass(asked)
    passed.on('upgrade', (theirs, far, head) => {
      far.on('error', () => {})
      const lines = theirs.rawHeaders.flatMap((_, i, all) => (i % 2 ? [] : [`${all[i]}: ${all[i + 1]}`]))
      near.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
      near.write(head)
      far.pipe(near).pipe(far)
    })
    return passed.end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
