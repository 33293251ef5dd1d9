import { createServer } from 'node:net'

/** Below the range systems use for outgoing connections, so a free port stays free until its server listens. */
const [FIRST, LAST] = [10_000, 32_000]

/** A port that is free on both addresses "localhost" can mean. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST))
    if ((await isFree(port, '127.0.0.1')) && (await isFree(port, 'localhost'))) return port
  }
  throw new Error(`No free port between ${FIRST} and ${LAST}.`)
}

export function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((answer) => {
    const server = createServer()
    server.once('error', () => answer(false))
    server.listen(port, host, () => server.close(() => answer(true)))
  })
}
