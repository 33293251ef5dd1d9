import { type Dispatch, useState } from 'react'
import { noneAvailable, type ServerListAction } from '../../domain/server-list.ts'
import type { Availability, Server, Summary } from '../../domain/wire.ts'
import { type Refusal, request } from '../request.ts'

type Dispatches = Dispatch<ServerListAction>

/** What the dashboard's buttons do, and the reading of what they changed. */
export function useServers(dispatch: Dispatches, setSummary: (summary: Summary) => void) {
  const [busy, setBusy] = useState(false)
  const danger = (text: string) => dispatch({ type: 'told', notice: { kind: 'danger', text, job: null } })

  async function refresh(signal?: AbortSignal): Promise<void> {
    dispatch({ type: 'fetching' })
    const [servers, summary] = await Promise.all([
      request<{ servers: Server[] }>('GET', '/api/v1/servers/get_servers', undefined, signal),
      request<Summary>('GET', '/api/v1/billings/summary', undefined, signal),
    ])
    if (signal?.aborted) return
    if (servers.status === 401) return location.assign('/sign_in')
    if (servers.ok) dispatch({ type: 'fetched', servers: servers.body.servers })
    else dispatch({ type: 'fetch_failed', message: sentence(servers.body, 'Failed to load servers') })
    if (summary.ok) setSummary(summary.body)
    else danger(sentence(summary.body, 'Failed to load billing'))
  }

  async function start(): Promise<void> {
    setBusy(true)
    try {
      const available = await request<Availability>('GET', '/api/v1/aws/server_available')
      if (!available.ok)
        return danger(
          `Failed to check availability: ${sentence(available.body, 'Failed to check server availability')}`,
        )
      if (!available.body.ServerAvailable) return danger(noneAvailable(available.body))
      const { ok, body } = await request<{ server: Server; job_id: string; errors: string[] }>(
        'POST',
        '/api/v1/aws/auto_cloud_start_request',
      )
      if (body.errors?.length) return danger(body.errors.join(', '))
      if (!ok) return danger(sentence(body, 'Failed to start server'))
      dispatch({ type: 'started', server: body.server, jobId: body.job_id, at: new Date().toISOString() })
    } finally {
      setBusy(false)
    }
  }

  async function stop({ id, server_id }: Server): Promise<void> {
    const { ok, body } = await request<{ server: Server; job_id: string }>('POST', '/api/v1/aws/stop_server', {
      server_id,
      session_id: id,
    })
    if (!ok) return danger(sentence(body, 'Failed to stop server'))
    dispatch({ type: 'stopped', server: body.server, jobId: body.job_id, at: new Date().toISOString() })
    await refresh()
  }

  return { busy, refresh, start, stop }
}

function sentence(body: Refusal, fallback: string): string {
  return body.error ?? body.message ?? fallback
}
