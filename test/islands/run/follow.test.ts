// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { confirmFrame, jobFrame, serverFrame, welcomeFrame } from '../../../src/domain/cable.ts'
import type { Job, Server } from '../../../src/domain/wire/fleet.ts'
import { followRun } from '../../../src/islands/run/follow.ts'
import { FakeSocket } from '../../../testing/browser/fake-socket.ts'
import { hide } from '../../../testing/browser/hooks.ts'

const IDENTIFIER = JSON.stringify({ channel: 'JobsChannel', user_id: 'user_1' })
const USER = { id: 'user_1', name: 'Ada', email: 'ada@example.com', admin: false }
const server = (id: string) => ({ id }) as Server
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const socket = () => FakeSocket.opened.at(-1) as FakeSocket

type Page = { status?: string; cost?: string; folds?: string; live?: boolean; actions?: string }
const html = ({
  status = 'running',
  cost = '$1',
  folds = '',
  live = true,
  actions = '<a href="/servers/ses_1">Refresh</a>',
}: Page) =>
  `<script type="application/json" id="bootstrap">${JSON.stringify({ user: USER })}</script><p id="live"></p>
  <div ${live ? 'data-follow="ses_1"' : ''}>
    <div data-live="head"><h1>Server</h1><span class="badge">${status}</span></div>
    <div data-live="actions">${actions}</div>
    <div data-live="record"><p>${cost}</p>${folds}<details><summary>Table</summary></details></div>
    <input name="name" value="">
  </div>`

let served: Page | number
const answer = vi.fn(async () =>
  typeof served === 'number' ? new Response('', { status: served }) : new Response(`<body>${html(served)}</body>`),
)

beforeEach(async () => {
  FakeSocket.opened = []
  vi.useFakeTimers()
  vi.stubGlobal('WebSocket', FakeSocket)
  vi.stubGlobal('fetch', answer)
  answer.mockClear()
  await hide(false)
  served = {}
  document.body.innerHTML = html({})
  followRun('ses_1')
  await socket().accept()
  await socket().say(welcomeFrame())
  await socket().say(confirmFrame(IDENTIFIER))
  await pass(0)
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  document.body.replaceChildren()
})

const said = () => document.getElementById('live')?.textContent
const find = <E extends HTMLElement>(selector: string) => document.querySelector(selector) as unknown as E

test('shows what changed at each event of its run and every 15 seconds, and nothing else moves', async () => {
  expect(answer).toHaveBeenCalledTimes(1)
  const [heading, details, input] = [find('h1'), find<HTMLDetailsElement>('details'), find<HTMLInputElement>('input')]
  details.open = true
  input.value = 'half typed'
  input.focus()
  served = { cost: '$2' }
  await socket().say(serverFrame(IDENTIFIER, 'server.updated', server('ses_2')))
  await pass(0)
  expect(document.body.textContent).toContain('$1')
  await socket().say(serverFrame(IDENTIFIER, 'server.ending', server('ses_1')))
  await pass(0)
  expect(find('[data-live=record] p').textContent).toBe('$2')
  served = { cost: '$3' }
  await pass(15_000)
  expect(find('[data-live=record] p').textContent).toBe('$3')
  expect([find('h1'), find('details'), document.activeElement]).toEqual([heading, details, input])
  expect([details.open, input.value]).toEqual([true, 'half typed'])
})

test('a table that is open stays open if a new fold comes before it', async () => {
  find<HTMLDetailsElement>('details').open = true
  served = { folds: '<details><summary>Record</summary></details>' }
  await pass(15_000)
  const folds = [...document.querySelectorAll('details')].map((fold) => [fold.textContent, fold.open])
  expect(folds).toEqual([
    ['Record', false],
    ['Table', true],
  ])
})

test('once the run has ended, says so, moves the focus to what comes next, and asks no more', async () => {
  find('a').focus()
  served = { status: 'stopped', live: false, actions: '<p>Over</p><button>Start again</button>' }
  await socket().say(jobFrame(IDENTIFIER, { id: 'job_1', server: server('ses_1') } as Job))
  await pass(0)
  expect([said(), document.activeElement?.textContent]).toEqual(['Server stopped.', 'Start again'])
  answer.mockClear()
  await pass(60_000)
  expect(answer).not.toHaveBeenCalled()
  expect(socket().readyState).toBe(WebSocket.CLOSED)
})

test('keeps what it shows if the server answers with an error, and does not ask while hidden', async () => {
  served = 503
  await pass(15_000)
  expect(find('[data-live=record] p').textContent).toBe('$1')
  answer.mockClear()
  await hide(true)
  await pass(60_000)
  expect(answer).not.toHaveBeenCalled()
  served = { cost: '$4' }
  await hide(false)
  await pass(0)
  expect(find('[data-live=record] p').textContent).toBe('$4')
})
