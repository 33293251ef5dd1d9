import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from './at-end.ts'

/** Answers on a free port of this computer, until the file's tests are over. @returns its URL */
export async function serve(answers: RequestListener | Server): Promise<string> {
  const server = typeof answers === 'function' ? createServer(answers) : answers
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  atEnd(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
