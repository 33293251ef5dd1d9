// @vitest-environment happy-dom
import { act } from 'react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { confirmFrame, jobFrame, welcomeFrame } from '../../src/domain/cable.ts'
import type { Job, LinePlace, Server } from '../../src/domain/wire/fleet.ts'
import { Line } from '../../src/islands/Line.tsx'
import { FakeSocket } from '../../testing/browser/fake-socket.ts'
import { hide, mount } from '../../testing/browser/hooks.ts'

const IDENTIFIER = JSON.stringify({ channel: 'JobsChannel', user_id: 'user_1' })
const HAS_SERVER = 'You have a server.'
const JOIN = 'Join the line'
const server = (change: Partial<Server>) => ({ id: 'ses_1', active: true, pending: false, ...change }) as Server

/** What the site says, each time it is asked. */
const site = { line: null as LinePlace | null, servers: [server({})] }

beforeEach(async () => {
  FakeSocket.opened = []
  vi.useFakeTimers()
  vi.stubGlobal('WebSocket', FakeSocket)
  vi.stubGlobal('fetch', async () => Response.json(site))
  Object.assign(site, { line: null, servers: [server({})] })
  await hide(false)
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** The page of someone whose server runs, while the fleet is full. */
async function openLine() {
  const sizes = [{ gpus: 1, waiting: 7, free: false }]
  const { element } = await mount(
    <Line
      userId="user_1"
      csrfToken=""
      now={Date.now()}
      line={null}
      sizes={sizes}
      hasServer
      isTrial={false}
      chosen={{}}
    />,
  )
  expect(element.textContent).toContain(HAS_SERVER)
  return () => element.textContent
}

test('once their server has ended, offers the line again, without counts of before', async () => {
  const text = await openLine()
  const socket = FakeSocket.opened.at(-1) as FakeSocket
  await socket.accept()
  await socket.say(welcomeFrame())
  await socket.say(confirmFrame(IDENTIFIER))
  await act(() => vi.advanceTimersByTimeAsync(0))
  const tell = (change: Partial<Server>) =>
    socket.say(jobFrame(IDENTIFIER, { id: 'job_1', kind: 'server_stop', server: server(change) } as Job))
  await tell({ stopping: true })
  expect(text()).toContain(HAS_SERVER)
  await tell({ active: false })
  expect(text()).toContain(JOIN)
  expect(text()).not.toContain('7 people are waiting')
})

test('without live updates, asks after their servers while they wait for none', async () => {
  const text = await openLine()
  site.servers = [server({ active: false })]
  await act(() => vi.advanceTimersByTimeAsync(10_000))
  expect(text()).toContain(JOIN)
  site.servers = [server({ id: 'ses_2', active: false, pending: true })]
  await act(() => vi.advanceTimersByTimeAsync(10_000))
  expect(text()).toContain(HAS_SERVER)
})
