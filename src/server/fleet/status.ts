import { connect } from 'node:net'
import { STATUS_BYTES, STATUS_PATH } from '../../domain/idle.ts'
import type { Machine } from '../ports/machine.ts'
import type { AskStatus } from '../ports/reach.ts'
import { isPrivateAddress } from './machine.ts'

/** For the whole answer, however slowly it arrives. */
const TIMEOUT_MS = 2_000
const HEAD_BYTES = 4_096

/** Asks over the same route as `reachBy`. Follows no redirect, and reads no more than it needs. */
export const statusBy =
  (machine: Machine | null): AskStatus =>
  async (host, port) => {
    const ask = machine && isPrivateAddress(host) ? webStatus(machine, `${host}:${port}`) : tcpStatus(host, port)
    return ask.catch(() => null)
  }

async function webStatus(machine: Machine, address: string): Promise<string | null> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const answer = await machine.fetch(address, STATUS_PATH, { headers: { Accept: 'application/json' }, signal })
  const reader = answer.body?.getReader()
  if (answer.status !== 200 || !reader) {
    await reader?.cancel()
    return null
  }
  const stop = () => {
    reader.cancel().catch(() => {})
  }
  signal.addEventListener('abort', stop)
  const bytes: number[] = []
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    bytes.push(...value.subarray(0, STATUS_BYTES + 1))
    if (bytes.length > STATUS_BYTES) {
      stop()
      return null
    }
  }
  return signal.aborted ? null : new TextDecoder().decode(Uint8Array.from(bytes))
}

/** Workers can't fetch from an IP literal, but can connect to one. HTTP/1.0 has no chunks: the answer ends with the connection. */
const tcpStatus: AskStatus = (host, port) =>
  new Promise((resolve) => {
    const socket = connect({ host, port })
    const parts: Buffer[] = []
    let size = 0
    const finish = (answer: string | null) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answer)
    }
    const timer = setTimeout(() => finish(null), TIMEOUT_MS)
    socket.on('connect', () =>
      socket.write(
        `GET ${STATUS_PATH} HTTP/1.0\r\nHost: ${host}:${port}\r\nAccept: application/json\r\nConnection: close\r\n\r\n`,
      ),
    )
    socket.on('data', (part: Buffer) => {
      size += part.length
      parts.push(part)
      if (size > HEAD_BYTES + STATUS_BYTES) finish(null)
    })
    socket.on('end', () => finish(bodyOf(Buffer.concat(parts).toString())))
    socket.on('error', () => finish(null))
  })

/** Null unless the status is 200. */
function bodyOf(answer: string): string | null {
  const split = answer.indexOf('\r\n\r\n')
  const body = answer.slice(split + 4)
  return split > 0 && /^HTTP\/1\.[01] 200 /.test(answer) && body.length <= STATUS_BYTES ? body : null
}
