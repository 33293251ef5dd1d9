import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { app, routes as table } from '../../src/server/app.ts'
import type { Env } from '../../src/server/settings/env.ts'
import { change, openSite, SITE } from '../../testing/stack/site.ts'

const CANARY = 'canary-7d1f-secret-of-a-vendor'
const servers: Server[] = []
afterAll(() => servers.forEach((server) => void server.close()))

/** A provider that always fails and leaks a secret word. */
async function sayCanary(status: number): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'Content-Type': 'text/xml', 'X-Secret': CANARY })
    response.end(
      `<Response><Errors><Error><Code>${CANARY}</Code><Message>${CANARY}</Message></Error></Errors></Response>`,
    )
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const fail = async () => {
  throw new Error(CANARY)
}

/** The socket route has its own test below: it needs headers that no other route expects. */
const routes = [...new Set(app.routes.filter((r) => r.method !== 'ALL').map((r) => `${r.method} ${r.path}`))].filter(
  (route) => route in table.facts && route !== 'GET /cable',
)

const healthy = await openSite()
const breaks: [string, () => Promise<Partial<Env>>][] = [
  ['the cloud refuses', async () => ({ EC2_ENDPOINT: await sayCanary(400) })],
  ['payments fail', async () => ({ STRIPE_API_BASE: await sayCanary(500) })],
  ['mail fails', async () => ({ EMAIL: { send: fail } as never })],
  [
    'the channel fails',
    async () => ({ JOB_CHANNEL: { getByName: () => ({ arm: fail, wake: fail, disconnect: fail }) } as never }),
  ],
  [
    'the counters fail',
    async () => {
      const counter = { guess: fail, forgive: fail, take: fail, takeExactly: fail }
      return { ATTEMPT_COUNTER: { getByName: () => counter } as never }
    },
  ],
  ['the database fails', async () => ({ LIBSQL_URL: await sayCanary(500) })],
  ['the database refuses', async () => ({ LIBSQL_URL: await sayCanary(400) })],
]
/** Nothing to find: no call here reaches Stripe, and libSQL's client reports only the status. */
const SILENT = new Set(['payments fail', 'the database refuses'])

test.each(breaks)('when %s, the log has its words and no answer does', async (what, broken) => {
  const site = await openSite(await broken())
  const statuses: Record<number, number> = {}
  for (const route of routes) {
    const [method = '', path = ''] = route.split(' ')
    const { cookie } = await healthy.signInAs('admin')
    const body = {
      user: {
        email: 'a@example.com',
        password: 'some words here',
        name: 'A',
        password_confirmation: 'some words here',
        terms_of_service: true,
      },
    }
    const response =
      method === 'GET'
        ? await site.request(path, { headers: { Cookie: cookie } })
        : await change(site, method, path.replace(':id', 'in_x'), cookie, body)
    statuses[response.status] = (statuses[response.status] ?? 0) + 1
    expect(await response.text(), route).not.toContain('canary')
    expect(JSON.stringify([...response.headers]), route).not.toContain('canary')
  }
  // A vendor's failure is never reported as our bug.
  expect(statuses[500]).toBeUndefined()
  await site.settle()
  const log = JSON.stringify(site.takeLines())
  if (!SILENT.has(what)) expect(log.includes(CANARY)).toBe(true)
})

test("a socket whose channel is unreachable gets a 503 without the error's words", async () => {
  const site = await openSite({ JOB_CHANNEL: { getByName: () => ({ fetch: fail }) } as never })
  const { cookie } = await healthy.signInAs('user')
  const headers = {
    Cookie: cookie,
    Origin: SITE,
    Upgrade: 'websocket',
    'Sec-WebSocket-Protocol': 'actioncable-v1-json',
  }
  const response = await site.request('/cable', { headers })
  expect(response.status).toBe(503)
  expect(await response.text()).not.toContain('canary')
  expect(site.takeLines()).toMatchObject([
    { event: 'request_failed', path: '/cable', error: [{}, { message: CANARY }] },
  ])
})
