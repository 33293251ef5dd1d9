import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '../../dev/free-port.ts'

/** A connection to the site that can be cut and restored, as a tunnel does to a train. */
export async function openBreakableLine(url: string) {
  const { hostname, port } = new URL(url)
  const own = await freePort()
  const ends = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) return near.destroy()
    const far = connect(Number(port), hostname)
    for (const [end, other] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(end)
      end.on('error', () => {})
      end.on('close', () => {
        ends.delete(end)
        other.destroy()
      })
      end.pipe(other)
    }
  })
  await new Promise<void>((listening) => server.listen(own, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${own}`,
    cut() {
      isCut = true
      for (const end of ends) end.destroy()
    },
    mend() {
      isCut = false
    },
    close() {
      this.cut()
      server.close()
    },
  }
}
