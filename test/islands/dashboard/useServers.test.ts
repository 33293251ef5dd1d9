// @vitest-environment happy-dom
import { act, useReducer, useState } from 'react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ALL_RESERVED, emptyServerList, reduceServerList, STARTING, STOPPING } from '../../../src/domain/server-list.ts'
import type { Summary } from '../../../src/domain/wire/billing.ts'
import type { Server } from '../../../src/domain/wire/fleet.ts'
import { useServers } from '../../../src/islands/dashboard/useServers.ts'
import { renderHook } from '../../../testing/browser/hooks.ts'

type Call = {
  what: string
  body: unknown
  signal: AbortSignal
  answer: (status: number, json: unknown) => Promise<void>
  fail: () => Promise<void>
}

/** Every open request, for the test to answer. */
let calls: Call[] = []

const SERVERS = 'GET /api/v1/servers/get_servers'
const SUMMARY = 'GET /api/v1/billings/summary'
const AVAILABLE = 'GET /api/v1/aws/server_available'
const START = 'POST /api/v1/aws/auto_cloud_start_request'
const STOP = 'POST /api/v1/aws/stop_server'

/** Takes the first open request of this kind; there must be one. */
function take(what: string): Call {
  const call = calls.find((open) => open.what === what)
  if (!call) throw new Error(`No ${what} is open: ${calls.map((open) => open.what).join()}`)
  calls.splice(calls.indexOf(call), 1)
  return call
}

const open = () => calls.map(({ what }) => what)

const server = (id: string, change: Partial<Server> = {}) =>
  ({ id, server_id: 'srv_1', active: true, stopping: false, pending: false, ...change }) as Server
const summary = (hoursUsed: number) =>
  ({ monthlyUsage: { hoursUsed, serverSessions: 1, runningServers: 1, amountOwedDollars: 0 } }) as Summary

/** The hook on the dashboard's own reducer. */
async function openDashboard(servers: Server[] = []) {
  const { result } = await renderHook((first: Server[]) => {
    const [list, dispatch] = useReducer(reduceServerList, first, (given) => emptyServerList(given))
    const [counted, setCounted] = useState<Summary | null>(null)
    return { list, counted, ...useServers(dispatch, setCounted) }
  }, servers)
  const now = () => result.current
  return {
    now,
    ids: () => now().list.servers.map(({ id }) => id),
    notice: () => now().list.notice?.text ?? null,
    start: () => act(async () => void now().start()),
    stop: (run: Server) => act(async () => void now().stop(run)),
    refresh: (signal?: AbortSignal) => act(async () => void now().refresh(signal)),
  }
}

async function answerRead(servers: Server[], hoursUsed: number): Promise<void> {
  const [list, used] = [take(SERVERS), take(SUMMARY)]
  await list.answer(200, { servers })
  await used.answer(200, summary(hoursUsed))
}

beforeEach(() => {
  calls = []
  vi.stubGlobal(
    'fetch',
    (path: string, { method, body, signal }: RequestInit) =>
      new Promise((resolve, reject) => {
        calls.push({
          what: `${method} ${path}`,
          body: body ? JSON.parse(String(body)) : undefined,
          signal: signal as AbortSignal,
          answer: (status, json) => act(async () => resolve(Response.json(json as object, { status }))),
          fail: () => act(async () => reject(new TypeError('Failed to fetch'))),
        })
      }),
  )
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

test('start: checks availability, then requests a server, and says so; busy throughout', async () => {
  const dashboard = await openDashboard()
  await dashboard.start()
  expect(open()).toEqual([AVAILABLE])
  expect(dashboard.now().busy).toBe(true)
  await take(AVAILABLE).answer(200, { ServerAvailable: true, candidates: [] })
  expect(open()).toEqual([START])
  expect(dashboard.now().busy).toBe(true)
  await take(START).answer(202, { server: server('ses_1', { pending: true }), job_id: 'job_1', errors: [] })
  expect(dashboard.now().busy).toBe(false)
  expect(dashboard.ids()).toEqual(['ses_1'])
  expect(dashboard.now().list.lastJobId).toBe('job_1')
  expect(dashboard.notice()).toBe(STARTING)
})

test('a double click starts one server; a later click starts another', async () => {
  const dashboard = await openDashboard()
  await act(async () => {
    void dashboard.now().start()
    void dashboard.now().start()
  })
  await dashboard.start()
  expect(open()).toEqual([AVAILABLE])
  await take(AVAILABLE).answer(503, {})
  await dashboard.start()
  expect(open()).toEqual([AVAILABLE])
})

test('start, refused: every answer has its sentence, sends nothing more, and leaves Start usable', async () => {
  const dashboard = await openDashboard()
  const available = { ServerAvailable: true, candidates: [] }
  const refusals: [sentence: string, ...answers: [what: string, status: number, json: unknown][]][] = [
    [ALL_RESERVED, [AVAILABLE, 200, { ServerAvailable: false, candidates: [] }]],
    ['Failed to check availability: The cloud is away.', [AVAILABLE, 503, { error: 'The cloud is away.' }]],
    ['One, Two', [AVAILABLE, 200, available], [START, 422, { errors: ['One', 'Two'] }]],
    ['Not today.', [AVAILABLE, 200, available], [START, 403, { error: 'Not today.', errors: [] }]],
  ]
  for (const [sentence, ...answers] of refusals) {
    await dashboard.start()
    expect(dashboard.notice()).toBe('Looking for a free server…')
    for (const [what, status, json] of answers) await take(what).answer(status, json)
    expect(dashboard.notice()).toContain(sentence)
    expect(dashboard.now().busy).toBe(false)
    expect(open()).toEqual([])
  }
})

test('start, connection lost: says so and leaves Start usable', async () => {
  const dashboard = await openDashboard()
  await dashboard.start()
  await take(AVAILABLE).fail()
  expect(dashboard.notice()).toBe('Failed to check availability: Failed to check server availability')
  expect(dashboard.now().busy).toBe(false)
  await dashboard.start()
  await take(AVAILABLE).answer(200, { ServerAvailable: true, candidates: [] })
  await take(START).fail()
  expect(dashboard.notice()).toBe('Failed to start server')
  expect(dashboard.now().busy).toBe(false)
})

test('stop: names server and session, says so, and reloads what it changed', async () => {
  const running = server('ses_1')
  const dashboard = await openDashboard([running])
  await dashboard.stop(running)
  const call = take(STOP)
  expect(call.body).toEqual({ server_id: 'srv_1', session_id: 'ses_1' })
  await call.answer(202, { server: server('ses_1', { stopping: true }), job_id: 'job_2' })
  expect(dashboard.notice()).toBe(STOPPING)
  expect(dashboard.now().list.servers[0]?.stopping).toBe(true)
  await answerRead([server('ses_1', { active: false })], 1)
  expect(dashboard.now().list.servers[0]?.active).toBe(false)
  expect(dashboard.now().counted?.monthlyUsage.hoursUsed).toBe(1)
})

test('a double click stops a session once; another session can be stopped meanwhile', async () => {
  const [one, two] = [server('ses_1'), server('ses_2')]
  const dashboard = await openDashboard([one, two])
  await dashboard.stop(one)
  await dashboard.stop(one)
  await dashboard.stop(two)
  expect(calls.map(({ body }) => body)).toEqual([
    { server_id: 'srv_1', session_id: 'ses_1' },
    { server_id: 'srv_1', session_id: 'ses_2' },
  ])
})

test('stop, refused or unreachable: says so and leaves Stop usable', async () => {
  const running = server('ses_1')
  const dashboard = await openDashboard([running])
  await dashboard.stop(running)
  await take(STOP).answer(409, { error: 'It is stopping already.' })
  expect(dashboard.notice()).toBe('It is stopping already.')
  await dashboard.stop(running)
  await take(STOP).fail()
  expect(dashboard.notice()).toBe('Failed to stop server')
  expect(open()).toEqual([])
})

test('a read overtaken by a later one changes nothing', async () => {
  const dashboard = await openDashboard()
  await dashboard.refresh()
  const [oldServers, oldSummary] = [take(SERVERS), take(SUMMARY)]
  await dashboard.refresh()
  await answerRead([server('new')], 2)
  await oldServers.answer(200, { servers: [server('old')] })
  await oldSummary.answer(200, summary(1))
  expect(dashboard.ids()).toEqual(['new'])
  expect(dashboard.now().counted?.monthlyUsage.hoursUsed).toBe(2)

  // Nor does its failure.
  await dashboard.refresh()
  const failing = [take(SERVERS), take(SUMMARY)]
  await dashboard.refresh()
  await answerRead([server('newer')], 3)
  for (const call of failing) await call.fail()
  expect(dashboard.now().list.error).toBeNull()
  expect(dashboard.now().counted?.monthlyUsage.hoursUsed).toBe(3)
})

test('a read no longer needed is aborted and changes nothing', async () => {
  const dashboard = await openDashboard([server('before')])
  const abort = new AbortController()
  await dashboard.refresh(abort.signal)
  const [list, used] = [take(SERVERS), take(SUMMARY)]
  abort.abort()
  expect([list, used].map(({ signal }) => signal.aborted)).toEqual([true, true])
  await list.fail()
  await used.fail()
  expect(dashboard.now().list.error).toBeNull()
  expect(dashboard.ids()).toEqual(['before'])
})

test('a read sets its time only once both parts have arrived', async () => {
  const dashboard = await openDashboard()
  expect(dashboard.now().readAt).toBe(0)
  await dashboard.refresh()
  expect(dashboard.now().list.loading).toBe(true)
  await take(SERVERS).answer(200, { servers: [server('ses_1')] })
  expect(dashboard.now().readAt).toBe(0)
  await take(SUMMARY).answer(200, summary(1))
  expect(dashboard.now().readAt).toBeGreaterThan(0)
  expect(dashboard.now().list.loading).toBe(false)
})

test('shows what loaded and names what did not, once if the reason is the same; earlier data stays', async () => {
  const dashboard = await openDashboard([server('before')])
  await dashboard.refresh()
  await take(SERVERS).fail()
  await take(SUMMARY).answer(200, summary(4))
  expect(dashboard.now().list.error).toBe('Failed to load servers')
  expect(dashboard.now().counted?.monthlyUsage.hoursUsed).toBe(4)
  expect(dashboard.ids()).toEqual(['before'])
  expect(dashboard.now().readAt).toBe(0)

  await dashboard.refresh()
  for (const what of [SERVERS, SUMMARY]) await take(what).answer(503, { error: 'Be back soon.' })
  expect(dashboard.now().list.error).toBe('Be back soon.')

  await dashboard.refresh()
  await answerRead([], 5)
  expect(dashboard.now().list.error).toBeNull()
})

test('an answer without its optional fields means there are none', async () => {
  const dashboard = await openDashboard()
  await dashboard.refresh()
  await take(SERVERS).answer(200, {})
  await take(SUMMARY).answer(200, { monthlyUsage: { hoursUsed: 1 } })
  expect(dashboard.ids()).toEqual([])
  expect(dashboard.now().counted).toEqual({
    subscription: null,
    suspended: false,
    start_refusal: null,
    as_of: '',
    monthlyUsage: { hoursUsed: 1, serverSessions: 0, runningServers: 0, amountOwedDollars: 0 },
  })
})

test('signed out elsewhere: reloads, so that the server leads to the sign-in page, and touches nothing', async () => {
  const reload = vi.spyOn(location, 'reload').mockImplementation(() => {})
  const dashboard = await openDashboard([server('before')])
  await dashboard.refresh()
  for (const what of [SERVERS, SUMMARY]) await take(what).answer(401, { error: 'Sign in.' })
  expect(reload).toHaveBeenCalledTimes(1)
  expect(dashboard.ids()).toEqual(['before'])
  expect(dashboard.now().list.error).toBeNull()
})
