import { expect, inject, test } from 'vitest'
import { KEEPALIVE, KEEPALIVE_ANSWER, SUB_PROTOCOL } from '../../../src/domain/cable.ts'
import { answered, jobsChannel, openSocket, stockClient, upgradeStatus } from '../../support/cable.ts'
import { Client, newPerson, waitFor } from '../../support/client.ts'

const url = inject('url')

test('welcome comes first; a subscription is confirmed with its identifier byte for byte', async () => {
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  expect(cable.socket.protocol).toBe(SUB_PROTOCOL)
  const odd = `{ "user_id":"${ada.id}",  "channel" : "JobsChannel" }`
  cable.subscribe(odd)
  await cable.until(JSON.stringify({ identifier: odd, type: 'confirm_subscription' }))
  expect(cable.frames[0]).toBe('{"type":"welcome"}')
  cable.socket.close()
  expect((await cable.closed()).code).toBe(1000)
})

test("somebody else's jobs are refused, whatever headers the client sends", async () => {
  const [ada, eve] = [await newPerson(url), await newPerson(url)]
  const cable = await openSocket(eve, { 'x-user-id': ada.id, 'x-sign-in-id': 'in_1', 'x-expires-at': '9999999999999' })
  const identifier = jobsChannel(ada.id)
  cable.subscribe(identifier)
  await cable.until(JSON.stringify({ identifier, type: 'reject_subscription' }))
  await ada.post('/api/v1/aws/auto_cloud_start_request')
  await waitFor(async () => {
    const { body } = await ada.get<{ servers: { active: boolean }[] }>('/api/v1/servers/get_servers')
    return body.servers[0]?.active
  })
  await answered(cable, eve.id)
  expect(cable.jobs()).toEqual([])
  cable.socket.close()
})

test('the stock client follows a start and a stop; one that comes later hears of the latest job', async () => {
  const ada = await newPerson(url)
  const { consumer, jobs, state } = stockClient(ada)
  await waitFor(async () => state.connected)
  expect(jobs).toEqual([])

  const { body: started } = await ada.post('/api/v1/aws/auto_cloud_start_request')
  const ready = await waitFor(async () => jobs.find((job) => job.status === 'succeeded'))
  expect(ready).toMatchObject({
    id: started.job_id,
    kind: 'server_start',
    result: 'Your server is running.',
    server: { active: true },
  })
  const progress = jobs.map((job) => job.progress).filter((said, i, all) => said && said !== all[i - 1])
  expect(progress).toEqual(
    ['Reserving a server…', 'Launching g6.4xlarge…', 'Booting…'].map((s) => expect.stringMatching(s.slice(0, 7))),
  )

  const late = await openSocket(ada)
  const identifier = jobsChannel(ada.id)
  late.subscribe(identifier)
  await waitFor(async () => late.jobs().length)
  expect(late.said().slice(1)).toEqual([
    JSON.stringify({ identifier, type: 'confirm_subscription' }),
    JSON.stringify({ identifier, message: { event: 'job.updated', job: ready } }),
  ])

  const stop = { server_id: ready.server?.server_id, session_id: ready.server?.id }
  const { body: stopping } = await ada.post('/api/v1/aws/stop_server', stop)
  const stopped = await waitFor(async () =>
    jobs.find((job) => job.id === stopping.job_id && job.status === 'succeeded'),
  )
  expect(stopped).toMatchObject({ kind: 'server_stop', server: { active: false, pending: false } })
  expect(stopped.result).toMatch(/^Server stopped\. It ran \d+s\./)
  await waitFor(async () => late.jobs().at(-1)?.status === 'succeeded' && late.jobs().at(-1)?.kind === 'server_stop')
  consumer.disconnect()
  late.socket.close()
})

test('the stock client is told that a foreign subscription is rejected', async () => {
  const ada = await newPerson(url)
  const { consumer, state } = stockClient(ada, 'user_someone')
  await waitFor(async () => state.rejected)
  expect(state.connected).toBe(0)
  consumer.disconnect()
})

test('a client that sends nothing gets a ping every 3 s, with the time in seconds', async () => {
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  const pings = () => cable.frames.map((f) => JSON.parse(f)).filter((f) => f.type === 'ping')
  await waitFor(async () => pings().length >= 2)
  const [first, second] = pings()
  expect(Number.isInteger(first.message)).toBe(true)
  expect(second.message - first.message).toBeGreaterThanOrEqual(3)
  cable.socket.close()
})

test('a keepalive is answered', async () => {
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  cable.send(KEEPALIVE)
  await cable.until(KEEPALIVE_ANSWER)
  cable.socket.close()
})

test('what is no command is answered with nothing, and the socket lives on', async () => {
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  const identifier = jobsChannel(ada.id)
  for (const frame of [
    '',
    '{',
    'null',
    '[1]',
    '"subscribe"',
    '{"command":"subscribe"}',
    '{"command":"subscribe","identifier":{}}',
    '{"command":"subscribe","identifier":"no json"}',
    JSON.stringify({ command: 'message', identifier, data: '{"action":"x"}' }),
    JSON.stringify({ command: 'constructor', identifier }),
    JSON.stringify({ command: 'unsubscribe', identifier }),
  ])
    cable.send(frame)
  cable.send(new Uint8Array([0, 255, 1]))
  cable.subscribe(identifier)
  cable.subscribe(identifier)
  await answered(cable, ada.id)
  expect(cable.said().slice(0, -1)).toEqual([
    '{"type":"welcome"}',
    JSON.stringify({ identifier, type: 'confirm_subscription' }),
  ])
  expect(cable.isClosed()).toBe(false)
  cable.socket.close()
})

test('a socket may name its channel in a few ways, not in any number', async () => {
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  const spelled = (i: number) => JSON.stringify({ channel: 'JobsChannel', user_id: ada.id, tab: i })
  for (let i = 0; i < 12; i++) cable.subscribe(spelled(i))
  await answered(cable, ada.id)
  const types = cable.said().map((frame) => JSON.parse(frame).type)
  expect(types.slice(1, -1)).toEqual([
    ...Array(4).fill('confirm_subscription'),
    ...Array(8).fill('reject_subscription'),
  ])
  cable.send(JSON.stringify({ command: 'unsubscribe', identifier: spelled(0) }))
  cable.subscribe(spelled(9))
  await cable.until(JSON.stringify({ identifier: spelled(9), type: 'confirm_subscription' }))
  expect(cable.isClosed()).toBe(false)
  cable.socket.close()
})

test.each([
  ['more than 4 KB', (send: (frame: string) => void) => send(JSON.stringify({ x: 'x'.repeat(4_096) }))],
  ['more than 4 KB in other letters', (send: (frame: string) => void) => send('é'.repeat(2_100))],
  [
    'more than 20 messages a second',
    (send: (frame: string) => void) => {
      for (let i = 0; i < 60; i++) send('{}')
    },
  ],
])('%s closes the socket', async (_, flood) => {
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  flood(cable.send)
  expect((await cable.closed()).code).toBe(1008)
})

test('without a sign-in the socket says so and is closed for good', async () => {
  const cable = await openSocket(new Client(url))
  expect((await cable.closed()).code).toBe(1000)
  expect(cable.frames).toEqual(['{"type":"disconnect","reason":"unauthorized","reconnect":false}'])
})

test('another or no origin, another or no sub-protocol, or no upgrade is not found', async () => {
  const ada = await newPerson(url)
  const own = { Origin: url, Cookie: ada.cookieHeader, 'Sec-WebSocket-Protocol': SUB_PROTOCOL }
  const { Origin: _, ...noOrigin } = own
  const { 'Sec-WebSocket-Protocol': __, ...noProtocol } = own
  expect(await upgradeStatus(ada, own)).toBe(101)
  expect(await upgradeStatus(ada, noOrigin)).toBe(404)
  for (const Origin of ['https://evil.example', 'null', `${url}.evil.example`, url.replace('http', 'https')])
    expect(await upgradeStatus(ada, { ...own, Origin }), Origin).toBe(404)
  expect(await upgradeStatus(ada, noProtocol)).toBe(404)
  expect(await upgradeStatus(ada, { ...own, 'Sec-WebSocket-Protocol': 'actioncable-unsupported' })).toBe(404)
  expect((await ada.get('/cable')).status).toBe(404)
})

test('signing out closes the sockets of that sign-in, and of no other', async () => {
  const ada = await newPerson(url)
  const elsewhere = new Client(url)
  await elsewhere.signIn(ada.email, 'a good long password')
  const [here, there] = [await openSocket(ada), await openSocket(elsewhere)]
  await ada.request('DELETE', '/users/sign_out')
  await here.closing()
  expect(here.said().at(-1)).toBe('{"type":"disconnect","reason":"remote","reconnect":false}')
  await answered(there, ada.id)
  expect(there.isClosed()).toBe(false)
  expect(await openSocket(ada).then((cable) => cable.closed())).toMatchObject({ code: 1000 })
  there.socket.close()
})
