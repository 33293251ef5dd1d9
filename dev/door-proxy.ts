import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'

export const isDoorHost = ({ headers }: IncomingMessage, domain: string | undefined): boolean =>
  domain !== undefined && `.${headers.host?.toLowerCase().replace(/\.?(:\d+)?$/, '')}`.endsWith(`.${domain}`)

/** Passes everything for a door to workerd unchanged: pages of the site run here in Node, doors don't. */
export function passToWorkerd(port: number) {
  return {
    request(req: IncomingMessage, res: ServerResponse): void {
      const { method, url, headers } = req
      const onward = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
        answer.pipe(res)
      })
      onward.on('error', () => res.destroy())
      res.on('close', () => onward.destroy())
      req.pipe(onward)
    },
    upgrade({ method, url, rawHeaders }: IncomingMessage, socket: Duplex, head: Buffer): void {
      const onward = connect(port, '127.0.0.1', () => {
        const lines = rawHeaders.flatMap((name, i) => (i % 2 ? [] : [`${name}: ${rawHeaders[i + 1]}`]))
        onward.write(`${method} ${url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
        onward.write(head)
        socket.pipe(onward).pipe(socket)
      })
      for (const end of [socket, onward])
        end.on('error', () => {
          socket.destroy()
          onward.destroy()
        })
    },
  }
}
