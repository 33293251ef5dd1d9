import { expect, inject, test } from 'vitest'
import type { Server, Summary } from '../../../src/domain/wire.ts'
import { newPerson, waitFor } from '../../support/client.ts'

const url = inject('url')

test('a server is started, becomes running, is reachable, and is stopped', async () => {
  const ada = await newPerson(url)
  const started = await ada.post('/api/v1/aws/auto_cloud_start_request')
  expect([started.status, started.body.errors]).toEqual([202, []])
  expect(started.body.server).toMatchObject({ active: false, pending: true, stopping: false, startedAt: null })

  const list = async () => (await ada.get<{ servers: Server[] }>('/api/v1/servers/get_servers')).body.servers
  const running = await waitFor(async () => (await list()).find((server) => server.active && server.ip_address))
  const reach = await ada.post('/api/v1/aws/check_server_ip_status', { ip_address: running.ip_address })
  expect(reach.status).toBe(200)

  const stopped = await ada.post('/api/v1/aws/stop_server', { server_id: running.server_id, session_id: running.id })
  expect(stopped.status).toBe(202)
  const ended = await waitFor(async () => (await list()).find((server) => !server.active && !server.pending))
  expect(ended.end_time).not.toBeNull()
  const summary = (await ada.get<Summary>('/api/v1/billings/summary')).body
  expect(summary.monthlyUsage).toMatchObject({ serverSessions: 1, runningServers: 0, amountOwedDollars: 0 })
})
