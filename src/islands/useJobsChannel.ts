import { useEffect, useRef, useState } from 'react'
import { type Connection, followJobs, type Listener } from './jobs-channel.ts'

/**
 * Follows the user's jobs.
 * @returns also `heardAt`: when the server was last heard, in ms since 1970 by this machine's clock, as of the last
 * change of `connection`
 */
export function useJobsChannel(
  userId: string,
  listener: Omit<Listener, 'onConnection'>,
): { connection: Connection; heardAt: number } {
  const [state, setState] = useState({ connection: 'connecting' as Connection, heardAt: 0 })
  const latest = useRef(listener)
  latest.current = listener
  useEffect(
    () =>
      followJobs(userId, {
        onJob: (job) => latest.current.onJob(job),
        onServer: (server) => latest.current.onServer(server),
        onNews: () => latest.current.onNews(),
        onLine: (line) => latest.current.onLine?.(line),
        onConnection: (connection, heardAt) => setState({ connection, heardAt }),
      }),
    [userId],
  )
  return state
}
