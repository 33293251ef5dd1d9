// @vitest-environment happy-dom
import * as actionCable from '@rails/actioncable'
import { act } from 'react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  accountFrame,
  confirmFrame,
  disconnectFrame,
  jobFrame,
  KEEPALIVE,
  KEEPALIVE_ANSWER,
  PING_EVERY_MS,
  welcomeFrame,
} from '../../src/domain/cable.ts'
import type { Job } from '../../src/domain/wire/fleet.ts'
import { useJobsChannel } from '../../src/islands/useJobsChannel.ts'
import { FakeSocket } from '../../testing/browser/fake-socket.ts'
import { hide, renderHook } from '../../testing/browser/hooks.ts'

/** Missing from its types. */
const { Connection, ConnectionMonitor } = actionCable as unknown as Record<string, Record<string, number>>

const IDENTIFIER = JSON.stringify({ channel: 'JobsChannel', user_id: 'user_1' })
const job = { id: 'job_1', status: 'running' } as Job

const socket = () => FakeSocket.opened.at(-1) as FakeSocket
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms))
const subscriptions = () => socket().sent.filter((frame) => frame.includes('"subscribe"'))
const pings = () => socket().sent.filter((frame) => frame === KEEPALIVE)

async function follow() {
  const listener = { onJob: vi.fn(), onServer: vi.fn(), onNews: vi.fn() }
  const hook = await renderHook((given: typeof listener) => useJobsChannel('user_1', given), listener)
  return { ...hook, ...listener, state: () => hook.result.current.connection }
}

/** The server's part in opening a channel. */
async function answer(): Promise<void> {
  await socket().accept()
  await socket().say(welcomeFrame())
  await socket().say(confirmFrame(IDENTIFIER))
}

async function followLive() {
  const channel = await follow()
  await answer()
  return channel
}

beforeEach(async () => {
  FakeSocket.opened = []
  vi.useFakeTimers()
  vi.stubGlobal('WebSocket', FakeSocket)
  await hide(false)
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  document.head.replaceChildren()
})

test('the stock client keeps the promised times: stale after 6 s, backoff 0.15, reopened after 500 ms', () => {
  expect(ConnectionMonitor?.staleThreshold).toBe(6)
  expect(ConnectionMonitor?.reconnectionBackoffRate).toBe(0.15)
  expect(Connection?.reopenDelay).toBe(500)
})

test('opens one socket where the page says, and is live once the server confirms the user’s own channel', async () => {
  document.head.innerHTML = '<meta name="cable-url" content="wss://cable.example/cable">'
  const { state, onNews } = await follow()
  expect(FakeSocket.opened.map(({ url }) => url)).toEqual(['wss://cable.example/cable'])
  expect(state()).toBe('connecting')
  await socket().accept()
  await socket().say(welcomeFrame())
  expect(subscriptions().map((frame) => JSON.parse(frame))).toEqual([{ command: 'subscribe', identifier: IDENTIFIER }])
  expect(state()).toBe('connecting')
  expect(onNews).not.toHaveBeenCalled()
  await socket().say(confirmFrame(IDENTIFIER))
  expect(state()).toBe('live')
  expect(onNews).toHaveBeenCalledTimes(1)
})

test('passes jobs to the listener of the latest render, and no other messages', async () => {
  const { onJob, rerender } = await followLive()
  await socket().say(jobFrame(IDENTIFIER, job))
  expect(onJob.mock.calls).toEqual([[job]])
  await socket().say(JSON.stringify({ identifier: IDENTIFIER, message: { event: 'job.removed', job } }))
  await socket().say(KEEPALIVE_ANSWER)
  expect(onJob).toHaveBeenCalledTimes(1)

  const later = { onJob: vi.fn(), onServer: vi.fn(), onNews: vi.fn() }
  await rerender(later)
  await socket().say(jobFrame(IDENTIFIER, job))
  expect(later.onJob.mock.calls).toEqual([[job]])
  expect(onJob).toHaveBeenCalledTimes(1)
  expect(FakeSocket.opened.length).toBe(1)
})

test('hears that the account changed', async () => {
  const { onJob, onNews } = await followLive()
  await socket().say(accountFrame(IDENTIFIER))
  expect(onNews).toHaveBeenCalledTimes(2)
  expect(onJob).not.toHaveBeenCalled()
})

test('a lost socket: says so, with when it last heard the server, opens another, and reloads everything', async () => {
  const { state, result, onNews } = await followLive()
  await pass(2000)
  await socket().say(KEEPALIVE_ANSWER)
  const heardAt = Date.now()
  await pass(1000)
  await socket().drop()
  expect(result.current).toEqual({ connection: 'reconnecting', heardAt })
  await pass(30_000)
  expect(FakeSocket.opened.length).toBe(2)
  await answer()
  expect(state()).toBe('live')
  expect(onNews).toHaveBeenCalledTimes(2)
})

test('an offline browser is not live; once back online, it opens another socket at once', async () => {
  const { state } = await followLive()
  await act(async () => window.dispatchEvent(new Event('offline')))
  expect(state()).toBe('reconnecting')
  await act(async () => window.dispatchEvent(new Event('online')))
  await pass(500)
  expect(FakeSocket.opened.length).toBe(2)
  await answer()
  expect(state()).toBe('live')
})

test('too many sockets: off, and stays off until the tab is viewed', async () => {
  const { state } = await followLive()
  await hide(true)
  await socket().say(disconnectFrame('too_many_sockets'))
  expect(state()).toBe('off')
  await pass(120_000)
  await act(async () => document.dispatchEvent(new Event('visibilitychange')))
  expect(FakeSocket.opened.length).toBe(1)
  await hide(false)
  expect(FakeSocket.opened.length).toBe(2)
  await answer()
  expect(state()).toBe('live')
  // Fully back: a lost socket reopens automatically, and viewing the tab changes nothing.
  await hide(true)
  await hide(false)
  expect(state()).toBe('live')
  await act(async () => window.dispatchEvent(new Event('offline')))
  expect(state()).toBe('reconnecting')
})

test('a live or reconnecting tab opens no extra socket when viewed', async () => {
  await followLive()
  await hide(true)
  await hide(false)
  await pass(1000)
  expect(FakeSocket.opened.length).toBe(1)
})

test('keeps the socket alive: sends at once and every 3 s while it is open', async () => {
  await follow()
  const first = socket()
  await pass(PING_EVERY_MS * 2)
  expect(pings().length).toBe(0)
  await answer()
  expect(pings().length).toBe(1)
  await pass(PING_EVERY_MS)
  await socket().say(KEEPALIVE_ANSWER)
  expect(pings().length).toBe(2)
  await first.drop()
  const before = first.sent.length
  await pass(PING_EVERY_MS)
  expect(first.sent.length).toBe(before)
})

test('ends with its component: closes the socket, removes its listeners, leaves no timer', async () => {
  const { unmount, onJob } = await followLive()
  const only = socket()
  await unmount()
  expect(only.readyState).toBe(FakeSocket.CLOSED)
  await act(async () => {
    window.dispatchEvent(new Event('online'))
    document.dispatchEvent(new Event('visibilitychange'))
  })
  await pass(120_000)
  expect(FakeSocket.opened.length).toBe(1)
  expect(onJob).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})

test('a different user: a different socket, for that user’s channel', async () => {
  const hook = (userId: string) => useJobsChannel(userId, { onJob: () => {}, onServer: () => {}, onNews: () => {} })
  const { rerender } = await renderHook<string, unknown>(hook, 'user_1')
  await answer()
  await rerender('user_2')
  expect(FakeSocket.opened.map(({ readyState }) => readyState)).toEqual([FakeSocket.CLOSED, FakeSocket.CONNECTING])
  await socket().accept()
  await socket().say(welcomeFrame())
  expect(subscriptions().join()).toContain('user_2')
})

test('is blocked if it was never live for 10 s, until it is', async () => {
  const channel = await follow()
  await pass(9_900)
  expect(channel.state()).not.toBe('blocked')
  await pass(200)
  expect(channel.state()).toBe('blocked')
  // Later failures change nothing.
  await socket().drop()
  await pass(3_000)
  expect(channel.state()).toBe('blocked')
  await answer()
  expect(channel.state()).toBe('live')
})

test('is never blocked once it was live, however long it is away', async () => {
  const channel = await followLive()
  window.dispatchEvent(new Event('offline'))
  await pass(30_000)
  expect(channel.state()).not.toBe('blocked')
})
