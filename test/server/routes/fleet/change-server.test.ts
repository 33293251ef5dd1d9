import { expect, inject, test } from 'vitest'
import type { Server } from '../../../../src/domain/wire/fleet.ts'
import { answered, jobsChannel, openSocket } from '../../../../testing/people/cable.ts'
import { newPerson, waitFor } from '../../../../testing/people/client.ts'

const url = inject('url')
const HOUR = 3_600_000
/** The stack's clock, which another test may have moved. */
const inHours = (server: Server, hours: number) =>
  new Date(Date.parse(server.requested_at) + hours * HOUR).toISOString()

test('an end is moved and removed, open pages hear of it, and what is refused changes nothing', async () => {
  const [ada, eve] = [await newPerson(url), await newPerson(url)]
  const started = await ada.post('/api/v1/aws/auto_cloud_start_request', { stop_after: 3600 })
  const server = started.body.server as Server
  const path = `/api/v1/servers/${server.id}`
  const cable = await openSocket(ada)
  cable.subscribe(jobsChannel(ada.id))
  await answered(cable, ada.id)

  const ends_at = inHours(server, 0.4)
  const moved = await ada.request('PUT', path, { ends_at, name: 'Lidar' })
  expect(moved).toMatchObject({ status: 200, body: { server: { id: server.id, ends_at, name: 'Lidar' } } })
  const told = await waitFor(async () =>
    // The name and the end come one after the other.
    cable.frames
      .map((frame) => JSON.parse(frame).message)
      .find((message) => message?.event === 'server.updated' && message.server.ends_at === ends_at),
  )
  expect(told).toMatchObject({ event: 'server.updated', server: { id: server.id, ends_at, name: 'Lidar' } })
  cable.socket.close()

  const list = async () => (await ada.get<{ servers: Server[] }>('/api/v1/servers/get_servers')).body.servers
  const refusals = [
    [{ ends_at: inHours(server, -1) }, 422],
    [{ ends_at: inHours(server, 31 * 24) }, 422],
    [{ ends_at: 'tomorrow' }, 422],
    [{ name: 'a'.repeat(51) }, 422],
    [{ ends_at: 7 }, 400],
  ] as const
  for (const [body, status] of refusals)
    expect((await ada.request('PUT', path, body)).status, JSON.stringify(body)).toBe(status)
  expect((await eve.request('PUT', path, { ends_at: null })).status).toBe(404)
  expect((await eve.request('PUT', '/api/v1/servers/ses_none', {})).status).toBe(404)
  expect(await list()).toMatchObject([{ ends_at, name: 'Lidar' }])

  // Without script: the page's own zone is UTC, and an empty field means no end.
  await ada.open('/dashboard')
  const form = async (fields: Record<string, string>) =>
    ada.request(
      'POST',
      path,
      new URLSearchParams({ _method: 'put', authenticity_token: ada.csrf, ...fields }).toString(),
      { 'Content-Type': 'application/x-www-form-urlencoded' },
    )
  const soon = inHours(server, 0.3).slice(0, 16)
  expect((await form({ ends_at: soon })).headers.get('Location')).toBe('/dashboard')
  expect(await list()).toMatchObject([{ ends_at: `${soon}:00.000Z`, name: 'Lidar' }])
  expect((await form({ ends_at: '' })).status).toBe(303)
  expect(await list()).toMatchObject([{ ends_at: null, name: 'Lidar' }])

  await ada.post('/api/v1/aws/stop_server', { server_id: server.server_id, session_id: server.id })
  await waitFor(async () => (await list()).every(({ active, pending }) => !active && !pending))
  expect((await ada.request('PUT', path, { ends_at: inHours(server, 2) })).status).toBe(409)
  expect((await ada.request('PUT', path, { ends_at: null })).status).toBe(409)
  expect((await ada.request('PUT', path, { name: null })).body.server).toMatchObject({ name: null })
})
