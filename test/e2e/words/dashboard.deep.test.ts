import type { Page, WebSocketRoute } from 'playwright-core'
import { openDatabase } from '../../../db/client.ts'
import { SAMPLE_SERVER } from '../../../dev/sample-server.ts'
import type { Job, Server } from '../../../src/domain/wire/fleet.ts'
import { confirmStop } from '../../../testing/browser/e2e.ts'
import { answer, cut, hold, press, type Scene, type Word, walk } from '../../../testing/browser/words.ts'

/**
 * The dashboard and its frame. One row per text of the specification that a browser decides, except where it contradicts
 * itself: 'Failed to request more servers' (8), whose button is always disabled (2), and 'Failed to load servers' for the
 * billing history, which the server renders whole.
 */

type Go = (path: string) => Promise<unknown>

const live = (page: Page) => page.getByText('Live', { exact: true }).waitFor()
const open = async (page: Page, go: Go) => {
  await go('/dashboard')
  await live(page)
}

/** Opens the dashboard, then brings it into the state to check. */
const newcomer = (at: string, act: (page: Page) => Promise<unknown>, words: Word[]): Scene => ({
  at,
  as: 'newcomer',
  open: async (page, { go }) => {
    await open(page, go)
    await act(page)
  },
  words,
})

/** What a start's text is depends on how long ago it was requested. */
const justRequested = () => ({ ...SAMPLE_SERVER, requested_at: new Date().toISOString() })
const AVAILABLE = { ServerAvailable: true, candidates: [] }
const RUNNING = {
  ...justRequested(),
  pending: false,
  active: true,
  startedAt: '2020-01-01T00:00:00Z',
  billed_from: '2020-01-01T00:02:00Z',
  ip_address: '127.0.0.9',
}

/** Presses Start; both answers are faked. */
async function start(page: Page, available: unknown, started?: { status: number; json: unknown }): Promise<void> {
  await answer(page, '/api/v1/aws/server_available', 200, available)
  if (started) await answer(page, '/api/v1/aws/auto_cloud_start_request', started.status, started.json)
  await press(page, 'Start Server')
}

/** Your own running server, as the server list reports it. */
async function withServers(page: Page, servers: Server[]): Promise<void> {
  await answer(page, '/api/v1/servers/get_servers', 200, { servers })
  await press(page, 'Refresh')
}

/** The channel reports a job that nobody requested. */
const told = (at: string, job: Partial<Job>, words: Word[], later?: (page: Page) => Promise<unknown>): Scene => ({
  at,
  as: 'newcomer',
  open: async (page, { go }) => {
    let socket: WebSocketRoute | undefined
    await page.routeWebSocket('**/cable', (route) => {
      socket = route
      const server = route.connectToServer()
      server.onMessage((message) => route.send(message))
      route.onMessage((message) => server.send(message))
    })
    if (later) await page.clock.install()
    await open(page, go)
    const told = { id: 'job_x', kind: 'server_start', progress: null, result: null, server: null, ...job }
    const at = { created_at: new Date().toISOString(), updated_at: new Date().toISOString() }
    const user_id = await page.evaluate(
      () => JSON.parse(document.getElementById('bootstrap')?.textContent ?? '').user.id,
    )
    const identifier = JSON.stringify({ channel: 'JobsChannel', user_id })
    socket?.send(
      JSON.stringify({
        identifier,
        message: { event: 'job.updated', job: { error_message: null, error_code: null, ...told, ...at } },
      }),
    )
    await page.locator('.notices .alert').waitFor()
    await later?.(page)
  },
  words,
})

const ALL_RESERVED = 'No GPU servers available right now. All servers are reserved.'
const badge = (server: Partial<Server>, word: string, color: string): Scene =>
  newcomer(`a run that is ${word}`, (page) => withServers(page, [{ ...RUNNING, ...server }]), [
    [4, 'text', word, { color }],
    [
      4,
      'button',
      'Stop ses_x',
      { disabled: word !== 'running', note: 'only for an active session that is not stopping' },
    ],
  ])

const SCENES: Scene[] = [
  newcomer('the dashboard of a new person, the menu open', (page) => page.locator('.menu-button').click(), [
    [2, 'title', 'Dashboard'],
    [2, 'text', 'Simulate. Deploy. Win.'],
    [2, 'button', 'Hi Ada'],
    [2, 'button', 'Sign Out'],
    [2, 'link', 'Account', { href: /^\/account_overview$/ }],
    [2, 'link', 'Dashboard', { href: /^\/dashboard$/ }],
    [2, 'link', 'Billing', { href: /^\/billing_history$/, note: 'in the sidebar' }],
    [2, 'link', 'Settings', { href: /^\/account_overview$/ }],
    [2, 'heading', 'Dashboard'],
    [2, 'link', 'Subscriptions', { href: /^\/subscriptions$/ }],
    [2, 'button', 'Refresh'],
    [9, 'text', 'Free trial: 30.00 minutes left.', { note: '30 minus hours used × 60, two decimals' }],
    [2, 'region', 'Actions'],
    [2, 'button', 'Start Server', { disabled: false }],
    [2, 'button', 'Request More Servers', { disabled: true }],
    [2, 'link', 'Manage Subscription', { href: /^\/account_overview$/ }],
    [2, 'link', 'Billing History', { href: /^\/billing_history$/ }],
    [2, 'region', 'Monthly Usage'],
    [2, 'term', 'Hours Used'],
    [9, 'text', '0.00', { note: 'billing defaults to 0 hours' }],
    [2, 'term', 'Server Sessions'],
    [2, 'term', 'Amount Owed'],
    [9, 'text', '$0.00'],
    [1, 'text', 'USD'],
    [2, 'text', 'No servers yet. Click "Start Server" to launch one.'],
  ]),
  {
    at: 'someone without a name',
    as: 'starter',
    open: (_, { go }) => go('/account_overview'),
    words: [[2, 'button', 'Hi starter@example.com']],
  },
  {
    at: 'someone without a name or an address',
    as: 'runner',
    open: (_, { go }) => go('/account_overview'),
    words: [[2, 'button', 'Hi there']],
  },
  {
    at: 'the menu of an admin',
    as: 'admin',
    open: async (page, { go }) => {
      await open(page, go)
      await page.locator('.menu-button').click()
    },
    words: [[2, 'link', 'Admin', { href: /^\/console$/ }]],
  },
  newcomer(
    'while it loads',
    async (page) => {
      await hold(page, '/api/v1/servers/get_servers')
      await press(page, 'Refresh')
    },
    [[2, 'text', 'Refreshing…']],
  ),

  newcomer(
    'a start, accepted',
    (page) => start(page, AVAILABLE, { status: 202, json: { server: justRequested(), job_id: 'job_y', errors: [] } }),
    [
      [4, 'message', 'Starting server! This may take up to 30 seconds...'],
      [2, 'columnheader', 'Session ID'],
      [2, 'columnheader', 'IP Address'],
      [2, 'columnheader', 'Status'],
      [2, 'columnheader', 'Uptime'],
      [2, 'columnheader', 'Actions'],
      [4, 'text', 'provisioning', { color: 'yellow' }],
      [2, 'text', 'Connecting...'],
      [
        4,
        'button',
        'Start Server',
        { disabled: true, description: 'One server at a time: stop this one before you start another.' },
      ],
    ],
  ),
  newcomer(
    'a start in progress',
    async (page) => {
      await hold(page, '/api/v1/aws/server_available')
      await press(page, 'Start Server')
    },
    [[4, 'button', 'Start Server', { disabled: true, note: 'while a request runs' }]],
  ),
  newcomer('none available', (page) => start(page, { ServerAvailable: false, candidates: [] }), [
    [4, 'message', ALL_RESERVED],
    [8, 'button', 'Dismiss'],
  ]),
  newcomer(
    'a start with errors',
    (page) => start(page, AVAILABLE, { status: 202, json: { server: null, errors: ['This', 'and that'] } }),
    [
      [5, 'message', 'This, and that'],
      [5, 'text', 'No servers yet. Click "Start Server" to launch one.', { note: 'no server is added' }],
    ],
  ),
  newcomer(
    'an empty summary',
    async (page) => {
      await answer(page, '/api/v1/billings/summary', 200, {})
      await press(page, 'Refresh')
      await page.getByText('Free trial:').waitFor({ state: 'detached' })
    },
    [
      [3, 'text', '0.00', { note: 'hours used' }],
      [3, 'text', '$0.00'],
    ],
  ),
  newcomer(
    'the lists cannot be loaded',
    async (page) => {
      await cut(page, '/api/v1/servers/get_servers')
      await cut(page, '/api/v1/billings/summary')
      await press(page, 'Refresh')
    },
    [
      [8, 'message', 'Failed to load servers'],
      [8, 'message', 'Failed to load billing'],
    ],
  ),
  badge({}, 'running', 'green'),
  badge({ active: false, pending: true }, 'provisioning', 'yellow'),
  badge({ stopping: true }, 'stopping', 'yellow'),
  badge({ active: false, end_time: '2020-01-03T03:04:05Z' }, 'stopped', 'gray'),
  badge({ active: false, end_time: '2020-01-01T00:00:00Z', error_message: 'It broke.' }, 'error', 'red'),
  newcomer(
    'the uptime of a session',
    (page) => withServers(page, [{ ...RUNNING, active: false, end_time: '2020-01-03T03:04:05Z' }]),
    [[2, 'cell', '2d 3h 4m 5s']],
  ),
  newcomer(
    'a session whose address does not answer yet',
    async (page) => {
      await answer(page, '/api/v1/aws/check_server_ip_status', 200, { status: 'unreachable', code: null })
      await withServers(page, [{ ...RUNNING, billed_from: null }])
    },
    [
      [2, 'text', 'Connecting...'],
      [2, 'text', 'startup is free'],
    ],
  ),
  {
    at: 'a session whose address answers 5 s later',
    as: 'newcomer',
    open: async (page, { go }) => {
      await page.clock.install()
      await open(page, go)
      const statuses = ['unreachable', 'reachable']
      await page.route('**/api/v1/aws/check_server_ip_status', (route) =>
        route.fulfill({ json: { status: statuses.shift() ?? 'reachable', code: null } }),
      )
      const first = page.waitForResponse('**/check_server_ip_status')
      await withServers(page, [RUNNING])
      await first
      await page.clock.runFor(5_000)
    },
    words: [[9, 'link', '127.0.0.9', { href: /^http:\/\/127\.0\.0\.9:5173$/ }]],
  },
  newcomer(
    'a stop, accepted',
    async (page) => {
      await withServers(page, [RUNNING])
      await answer(page, '/api/v1/aws/stop_server', 202, { job_id: 'job_z', server: { ...RUNNING, stopping: true } })
      await press(page, 'Stop ses_x')
      await confirmStop(page)
    },
    [
      [4, 'message', 'Stopping server...'],
      [4, 'button', 'Stop ses_x', { disabled: true }],
    ],
  ),
  told('a job that failed, with its message', { status: 'failed', error_message: 'It broke.', error_code: 'timeout' }, [
    [4, 'message', 'It broke.'],
    [4, 'button', 'Dismiss'],
  ]),
  told('a job that runs', { status: 'running', progress: 'Booting the server.' }, [
    [2, 'message', 'Booting the server.', { note: 'the progress message' }],
  ]),
  told('a job that succeeded', { status: 'succeeded', result: 'All is well.' }, [[4, 'message', 'All is well.']]),
  told(
    'a job that succeeded, 10 s later',
    { status: 'succeeded', result: 'All is well.' },
    [[9, 'gone', 'All is well.']],
    (page) => page.clock.runFor(10_000),
  ),

  {
    at: 'a used-up trial',
    as: 'newcomer',
    open: async (page, { go, url }) => {
      await open(page, go)
      await use(page, url, 0.6)
      await press(page, 'Refresh')
    },
    words: [
      [9, 'text', 'Free trial: 0.00 minutes left.', { note: 'floored at 0' }],
      [
        6,
        'button',
        'Start Server',
        { disabled: true, description: 'Your trial minutes are used up. Choose a plan to start servers again.' },
      ],
      [2, 'link', 'See plans', { href: /^\/subscriptions$/, note: 'what to do next' }],
    ],
  },
  {
    at: 'usage, refreshed after 30 s',
    as: 'newcomer',
    open: async (page, { go, url }) => {
      await page.clock.install()
      await open(page, go)
      await page.waitForLoadState('networkidle')
      await use(page, url, 0.25)
      await page.clock.runFor(30_000)
    },
    words: [[9, 'text', '0.25']],
  },
  {
    at: 'the sign-in screen, opened by someone signed in',
    as: 'newcomer',
    open: (_, { go }) => go('/sign_in'),
    words: [[6, 'title', 'Dashboard']],
  },
  {
    at: 'the sign-up screen, opened by someone signed in',
    as: 'newcomer',
    open: (_, { go }) => go('/sign_up'),
    words: [[6, 'title', 'Dashboard']],
  },
  {
    at: 'the console, opened by someone who is not an admin',
    as: 'newcomer',
    open: (_, { go }) => go('/console'),
    words: [[6, 'title', 'Dashboard']],
  },
  ...['/dashboard', '/subscriptions', '/account_overview', '/billing_history'].map(
    (path): Scene => ({
      at: `${path}, opened by a visitor`,
      open: (_, { go }) => go(path),
      words: [[6, 'title', 'Sign In']],
    }),
  ),
]

/**
 * From now on, this many hours are used. We request the rest in advance, so that no call is open when the window
 * closes.
 */
async function use(page: Page, url: string, hoursUsed: number): Promise<void> {
  const summary = await (await page.request.get(`${url}/api/v1/billings/summary`)).json()
  await answer(page, '/api/v1/billings/summary', 200, {
    ...summary,
    monthlyUsage: { ...summary.monthlyUsage, hoursUsed },
  })
}

walk(SCENES, async (databaseUrl, userId) => {
  const db = openDatabase(databaseUrl)
  await db.run(`UPDATE users SET name = '', email = 'starter@example.com' WHERE id = '${userId('starter')}'`)
  await db.run(`UPDATE users SET name = '', email = '' WHERE id = '${userId('runner')}'`)
})
