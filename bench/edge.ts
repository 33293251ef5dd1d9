import { get, type IncomingMessage } from 'node:http'
import { createSecureServer, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { generate } from 'selfsigned'
import { SlowLine } from './slow-line.ts'

/** What fits into one packet with TLS and HTTP/2 headers. */
const PART = 1340

/** Stands in for Cloudflare's edge: HTTP/2 that sends the most urgent response first, over a slow line. */
export async function startEdge(site: string, line: { latency: number; kilobits: number }) {
  const sockets = new Set<Socket>()
  const responses = new WeakMap<Http2Session, Responses>()
  // Chromium speaks HTTP/2 only over TLS.
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], { keySize: 2048 })
  const edge = createSecureServer({ key, cert })
  edge.on('session', (session) => responses.set(session, new Responses()))
  edge.on('stream', async (stream, { ':path': path, cookie = '', priority }) => {
    // The page was closed.
    stream.on('error', () => {})
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      get(site + path, { headers: { cookie, 'accept-encoding': 'gzip' } }, resolve).on('error', reject),
    )
    const body = await buffer(answer)
    if (stream.destroyed) return
    const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...headers } = answer.headers
    stream.respond({ ...headers, ':status': answer.statusCode ?? 502 })
    if (stream.session) responses.get(stream.session)?.add(stream, body, urgencyOf(priority))
  })
  const server = createServer((socket) => {
    sockets.add(socket)
    edge.emit('connection', new SlowLine(socket, line))
  })
  await new Promise<void>((ready) => server.listen(0, 'localhost', ready))
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((closed) => server.close(closed))
    },
  }
}

/** From 0, the most urgent, to 7 (RFC 9218). */
function urgencyOf(priority: string | string[] | undefined): number {
  return Number(/\bu=([0-7])/.exec(String(priority))?.[1] ?? 3)
}

/** A connection's responses: sends the most urgent first, and equally urgent ones one after the other. */
class Responses {
  #waiting: { stream: ServerHttp2Stream; rest: Buffer; urgency: number }[] = []
  #sending = false

  add(stream: ServerHttp2Stream, rest: Buffer, urgency: number): void {
    this.#waiting.push({ stream, rest, urgency })
    this.#waiting.sort((a, b) => a.urgency - b.urgency)
    if (!this.#sending) void this.#send()
  }

  async #send(): Promise<void> {
    this.#sending = true
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      const { stream, rest } = next
      next.rest = rest.subarray(PART)
      if (next.rest.length === 0 || stream.destroyed) this.#waiting.shift()
      if (!stream.destroyed) await new Promise((sent) => stream.write(rest.subarray(0, PART), sent))
      if (next.rest.length === 0) stream.end()
    }
    this.#sending = false
  }
}
