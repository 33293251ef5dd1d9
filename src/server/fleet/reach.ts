import { connect } from 'node:net'
import type { Machine } from '../ports/machine.ts'
import type { Reach } from '../ports/reach.ts'
import { isPrivateAddress } from './machine.ts'

const TIMEOUT_MS = 2_000

/** A private address needs the machines' network, a public one the internet. */
export const reachBy =
  (machine: Machine | null): Reach =>
  (host, port) =>
    machine && isPrivateAddress(host) ? webReach(machine, `${host}:${port}`) : tcpReach(host, port)

/**
 * Any HTTP answer counts. The network accepts a connection before the machine does, so a connection alone proves
 * nothing. We ask as browsers do: some servers only know GET, and close a HEAD without a word.
 */
async function webReach(machine: Machine, address: string): ReturnType<Reach> {
  try {
    const answer = await machine.fetch(address, '/', { signal: AbortSignal.timeout(TIMEOUT_MS) })
    await answer.body?.cancel()
    return { status: 'reachable' }
  } catch (error) {
    const code = (error as Error).name === 'TimeoutError' ? 'ETIMEDOUT' : 'ECONNREFUSED'
    return { status: 'unreachable', code }
  }
}

/** Opens a bare TCP connection: Workers can't fetch from an IP literal, but can connect to one. */
const tcpReach: Reach = (host, port) =>
  new Promise((resolve) => {
    const socket = connect({ host, port })
    const finish = (answer: Awaited<ReturnType<Reach>>) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answer)
    }
    const timer = setTimeout(() => finish({ status: 'unreachable', code: 'ETIMEDOUT' }), TIMEOUT_MS)
    socket.on('connect', () => finish({ status: 'reachable' }))
    socket.on('error', (error: NodeJS.ErrnoException) =>
      finish({ status: 'unreachable', code: error.code ?? 'ECONNREFUSED' }),
    )
  })
