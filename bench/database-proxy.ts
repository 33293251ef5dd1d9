import { createServer, request } from 'node:http'

type Trip = { path: string; body: Buffer; askedAt: number; answeredAt: number }

export type DatabaseProxy = { url: string; trips: Trip[]; close(): Promise<void> }

/** A proxy for the libSQL server that records every request and when its response arrived. */
export async function startDatabaseProxy(target: string): Promise<DatabaseProxy> {
  const { hostname, port } = new URL(target)
  const trips: Trip[] = []
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    const askedAt = performance.now()
    const { url: path = '/', method, headers } = req
    const onward = request({ hostname, port, path, method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.on('data', (chunk) => res.write(chunk))
      answer.on('end', () => {
        trips.push({ path, body: Buffer.concat(chunks), askedAt, answeredAt: performance.now() })
        res.end()
      })
    })
    onward.on('error', () => res.destroy())
    req.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      onward.write(chunk)
    })
    req.on('end', () => onward.end())
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    trips,
    async close() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}
