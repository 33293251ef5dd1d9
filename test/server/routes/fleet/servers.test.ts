import { expect, inject, test } from 'vitest'
import type { Summary } from '../../../../src/domain/wire/billing.ts'
import type { Availability, Server, Worlds } from '../../../../src/domain/wire/fleet.ts'
import { newPerson, waitFor } from '../../../../testing/people/client.ts'

const url = inject('url')

test('a server can be started, runs, is reachable, and can be stopped', async () => {
  const ada = await newPerson(url)
  const chosen = { environment: 'Mountains', vehicle: 'ugv' }
  const started = await ada.post('/api/v1/aws/auto_cloud_start_request', chosen)
  expect([started.status, started.body.errors]).toEqual([202, []])
  expect(started.body.server).toMatchObject({
    active: false,
    pending: true,
    stopping: false,
    startedAt: null,
    billed_from: null,
    ...chosen,
  })

  const list = async () => (await ada.get<{ servers: Server[] }>('/api/v1/servers/get_servers')).body.servers
  const running = await waitFor(async () => (await list()).find((server) => server.billed_from && server.ip_address))
  const reach = await ada.post('/api/v1/aws/check_server_ip_status', { ip_address: running.ip_address })
  expect(reach.status).toBe(200)

  const stopped = await ada.post('/api/v1/aws/stop_server', { server_id: running.server_id, session_id: running.id })
  expect(stopped.status).toBe(202)
  const ended = await waitFor(async () => (await list()).find((server) => !server.active && !server.pending))
  expect(ended.end_time).not.toBeNull()
  const summary = (await ada.get<Summary>('/api/v1/billings/summary')).body
  expect(summary.monthlyUsage).toMatchObject({ serverSessions: 1, runningServers: 0, amountOwedDollars: 0 })
})

test('every refusal carries its sentence and changes nothing', async () => {
  const [ada, eve] = [await newPerson(url), await newPerson(url)]
  // The database could never read back the last one, nor any query that meets it.
  for (const max_gpus of [0, 65, 2 ** 53])
    expect((await ada.post('/api/v1/aws/auto_cloud_start_request', { max_gpus })).status).toBe(422)
  const started = await ada.post('/api/v1/aws/auto_cloud_start_request')
  const { id: session_id, server_id } = started.body.server as Server
  const again = await ada.post('/api/v1/aws/auto_cloud_start_request')
  expect(again).toMatchObject({ status: 409, body: { server: null, job_id: null, errors: [expect.any(String)] } })
  expect((await eve.post('/api/v1/aws/start', { server_id })).status).toBe(503)
  for (const none of ['srv_none', ''])
    expect((await eve.post('/api/v1/aws/start', { server_id: none })).status, none).toBe(404)
  expect((await eve.post('/api/v1/aws/stop_server', { server_id, session_id })).status).toBe(404)
  for (const body of [{}, { server_id }, { server_id, session_id: 7 }, [], 'null', '{'])
    expect((await ada.post('/api/v1/aws/stop_server', body)).status, JSON.stringify(body)).toBe(400)
  expect((await ada.post('/api/v1/aws/check_server_ip_status', { ip_address: '127.0.0.1' })).status).toBe(404)
  expect((await ada.post('/api/v1/aws/check_server_ip_status', { ip_address: 2130706433 })).status).toBe(400)

  const stopped = await ada.post('/api/v1/aws/stop_server', { server_id, session_id })
  const twice = await ada.post('/api/v1/aws/stop_server', { server_id, session_id })
  expect([202, 409]).toContain(twice.status)
  if (twice.status === 202) expect(twice.body.job_id).toBe(stopped.body.job_id)
  const list = async () => (await ada.get<{ servers: Server[] }>('/api/v1/servers/get_servers')).body.servers
  await waitFor(async () => (await list()).every((server) => !server.active && !server.pending))
  expect((await ada.post('/api/v1/aws/stop_server', { server_id, session_id })).status).toBe(409)
})

test('lists what a server can simulate, and refuses the rest with the name of the plan', async () => {
  const ada = await newPerson(url)
  const { environments, vehicles } = (await ada.get<Worlds>('/api/v1/environments')).body
  expect(environments.map(({ name, available }) => [name, available])).toEqual([
    ['Blocks', true],
    ['Neighborhood', true],
    ['Mountains', true],
  ])
  expect(vehicles.map(({ name, available }) => [name, available])).toEqual([
    ['uav', true],
    ['ugv', true],
    ['multi', false],
  ])
  const { server_id } = (await ada.get<Availability>('/api/v1/aws/server_available')).body.candidates[0] ?? {}
  for (const [wish, error] of [
    [{ vehicle: 'multi' }, 'Multi-vehicle needs Premium. The free trial includes UAV and UGV.'],
    [
      { environment: 'Moon' },
      'There is no environment called "Moon". The free trial includes Blocks, Neighborhood, and Mountains.',
    ],
  ] as const) {
    const refusal = { status: 422, body: { error, errors: [error] } }
    expect(await ada.post('/api/v1/aws/auto_cloud_start_request', wish)).toMatchObject(refusal)
    expect(await ada.post('/api/v1/aws/start', { server_id, ...wish })).toMatchObject(refusal)
  }
  expect((await ada.post('/api/v1/aws/start', { server_id, vehicle: 7 })).status).toBe(400)
  expect((await ada.get<{ servers: Server[] }>('/api/v1/servers/get_servers')).body.servers).toEqual([])
})
