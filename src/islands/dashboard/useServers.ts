import { type Dispatch, useRef, useState } from 'react'
import type { RunParameters } from '../../domain/parameters.ts'
import { type Notice, noneAvailable, OFFLINE, type ServerListAction } from '../../domain/server-list.ts'
import type { Summary } from '../../domain/wire/billing.ts'
import type { Availability, Server } from '../../domain/wire/fleet.ts'
import { type Answer, request } from '../request.ts'

/** For fields that the response leaves out. */
const NOTHING_USED = { hoursUsed: 0, serverSessions: 0, runningServers: 0, amountOwedDollars: 0 }

const START = 'start'

type StartWishes = {
  max_gpus?: number
  environment?: string
  vehicle?: string
  stop_after?: number
  parameters?: RunParameters
  secrets?: string[]
}

type Dispatches = Dispatch<ServerListAction>

/** What the dashboard's buttons do, and the reads that show the result. */
export function useServers(dispatch: Dispatches, setSummary: (summary: Summary) => void) {
  const [busy, setBusy] = useState(false)
  /** When everything was last read, by this machine's clock. */
  const [readAt, setReadAt] = useState(0)
  const reads = useRef(0)
  /** Starts and stops that are waiting for a response, so that a second click sends no second request. */
  const underWay = useRef(new Set<string>())
  const tell = (text: string, code?: string, kind: Notice['kind'] = 'danger') =>
    dispatch({ type: 'told', notice: { kind, text, code, job: null } })
  const refused = (answer: Answer<unknown>, fallback: string, before = '') =>
    tell(before + sentence(answer, fallback), answer.status || navigator.onLine ? answer.body.code : 'offline')

  async function refresh(signal?: AbortSignal): Promise<void> {
    reads.current += 1
    const read = reads.current
    dispatch({ type: 'fetching' })
    const [servers, summary] = await Promise.all([
      request<{ servers?: Server[] }>('GET', '/api/v1/servers/get_servers', undefined, signal),
      request<Summary>('GET', '/api/v1/billings/summary', undefined, signal),
    ])
    // A later read overtook this one, or nobody needs it anymore.
    if (signal?.aborted || read !== reads.current) return
    // The server says why on the sign-in page, which leads back here.
    if (servers.status === 401) return location.reload()
    const failures = []
    if (servers.ok) dispatch({ type: 'fetched', servers: servers.body.servers ?? [] })
    else failures.push(sentence(servers, 'Failed to load servers'))
    if (summary.ok) setSummary(complete(summary.body))
    else failures.push(sentence(summary, 'Failed to load billing'))
    // Both may have failed for the same reason: say it once.
    if (failures.length) dispatch({ type: 'fetch_failed', message: [...new Set(failures)].join(', ') })
    else setReadAt(Date.now())
  }

  /** @param wishes what the user chose */
  async function start(wishes: StartWishes = {}): Promise<void> {
    if (underWay.current.has(START)) return
    underWay.current.add(START)
    setBusy(true)
    tell('Looking for a free server…', '', 'info')
    try {
      const available = await request<Partial<Availability>>('GET', '/api/v1/aws/server_available')
      if (!available.ok)
        return refused(available, 'Failed to check server availability', 'Failed to check availability: ')
      if (!available.body.ServerAvailable) return tell(noneAvailable(available.body), 'no_capacity')
      const started = await request<{ server: Server; job_id: string; errors: string[] }>(
        'POST',
        '/api/v1/aws/auto_cloud_start_request',
        wishes,
      )
      const { ok, body } = started
      if (body.errors?.length) return tell(body.errors.join(', '), body.code)
      if (!ok) return refused(started, 'Failed to start server')
      dispatch({ type: 'started', server: body.server, jobId: body.job_id })
    } finally {
      underWay.current.delete(START)
      setBusy(false)
    }
  }

  async function stop({ id, server_id }: Server): Promise<void> {
    if (underWay.current.has(id)) return
    underWay.current.add(id)
    const stopped = await request<{ server: Server; job_id: string }>('POST', '/api/v1/aws/stop_server', {
      server_id,
      session_id: id,
    })
    underWay.current.delete(id)
    const { ok, body } = stopped
    if (!ok) return refused(stopped, 'Failed to stop server')
    dispatch({ type: 'stopped', server: body.server, jobId: body.job_id })
    await refresh()
  }

  /** @param endsAt ISO 8601; null: no end */
  async function moveEnd({ id }: Server, endsAt: string | null): Promise<void> {
    const moved = await request<{ server: Server }>('PUT', `/api/v1/servers/${id}`, { ends_at: endsAt })
    if (!moved.ok) return refused(moved, 'Failed to change when the server stops')
    dispatch({ type: 'changed', server: moved.body.server })
  }

  return { busy, readAt, refresh, start, stop, moveEnd }
}

/** A missing field means that there is none. */
function complete(summary: Partial<Summary>): Summary {
  return {
    subscription: null,
    suspended: false,
    start_refusal: null,
    as_of: '',
    ...summary,
    monthlyUsage: { ...NOTHING_USED, ...summary.monthlyUsage },
  }
}

/** The server's own sentence, or the call's if there was no response. */
function sentence({ status, body }: Answer<unknown>, fallback: string): string {
  if (!status && !navigator.onLine) return OFFLINE
  return (status && (body.error ?? body.message)) || fallback
}
