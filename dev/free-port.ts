import { createServer } from 'node:net'

/** Below the range from which systems take the ports of outgoing connections: one that is free now stays so until its server listens. */
const [FIRST, LAST] = [10_000, 32_000]

/** A port that nobody listens on, on both of the addresses that "localhost" may mean. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST))
    if ((await isFree(port, '127.0.0.1')) && (await isFree(port, 'localhost'))) return port
  }
  throw new Error(`No free port was found between ${FIRST} and ${LAST}.`)
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((answer) => {
    const server = createServer()
    server.once('error', () => answer(false))
    server.listen(port, host, () => server.close(() => answer(true)))
  })
}
