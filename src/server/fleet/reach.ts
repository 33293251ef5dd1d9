import { connect } from 'node:net'
import type { Reach } from '../ports/reach.ts'

const TIMEOUT_MS = 2_000

/** Opens a bare TCP connection: Workers can't fetch from an IP literal, but can connect to one. */
export const tcpReach: Reach = (host, port) =>
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
