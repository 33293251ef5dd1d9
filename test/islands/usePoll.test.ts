// @vitest-environment happy-dom
import { act } from 'react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { usePoll } from '../../src/islands/usePoll.ts'
import { hide, renderHook, reportError } from '../../testing/browser/hooks.ts'

/** Every poll that started, for the test to end. */
let polls: { signal: AbortSignal; end: () => Promise<void>; fail: (error: Error) => Promise<void> }[]

const poll = (signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const settle = (how: () => void) => act(async () => how())
    polls.push({ signal, end: () => settle(resolve), fail: (error) => settle(() => reject(error)) })
  })

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms))
const last = () => polls[polls.length - 1] as (typeof polls)[number]

function start(everyMs = 1000, enabled = true) {
  type Given = { everyMs: number; enabled: boolean }
  return renderHook(({ everyMs, enabled }: Given) => usePoll(poll, everyMs, enabled), { everyMs, enabled })
}

beforeEach(async () => {
  polls = []
  vi.useFakeTimers()
  await hide(false)
})
afterEach(() => {
  vi.useRealTimers()
})

test('polls at its interval, counted from the start of a poll', async () => {
  await start(1000)
  await pass(999)
  expect(polls.length).toBe(0)
  await pass(1)
  expect(polls.length).toBe(1)
  await pass(400)
  await last().end()
  await pass(599)
  expect(polls.length).toBe(1)
  await pass(1)
  expect(polls.length).toBe(2)
})

test("calls the latest render's function", async () => {
  const told: string[] = []
  const hook = (name: string) =>
    usePoll(async () => {
      told.push(name)
    }, 1000)
  const { rerender } = await renderHook<string, void>(hook, 'first')
  await rerender('second')
  await pass(1000)
  expect(told).toEqual(['second'])
})

test('applies a new interval at once', async () => {
  const { rerender } = await start(30_000)
  await pass(12_000)
  await rerender({ everyMs: 10_000, enabled: true })
  await pass(0)
  expect(polls.length).toBe(1)
})

test('does not poll while hidden; polls at once when shown again after more than the interval', async () => {
  await start(1000)
  await pass(500)
  await hide(true)
  await pass(10_000)
  expect(polls.length).toBe(0)
  await hide(false)
  await pass(0)
  expect(polls.length).toBe(1)
})

test('when shown again sooner, polls on schedule', async () => {
  await start(1000)
  await pass(300)
  await hide(true)
  await pass(300)
  await hide(false)
  await pass(399)
  expect(polls.length).toBe(0)
  await pass(1)
  expect(polls.length).toBe(1)
})

test('polls at once when the network returns', async () => {
  await start(60_000)
  await pass(100)
  await act(async () => window.dispatchEvent(new Event('online')))
  await pass(0)
  expect(polls.length).toBe(1)
})

test('never runs two polls: not for a slow one, not when the tab returns, not when the network does', async () => {
  const { rerender } = await start(1000)
  await pass(1000)
  await pass(5000)
  await hide(true)
  await hide(false)
  await pass(5000)
  await rerender({ everyMs: 500, enabled: true })
  await pass(5000)
  await act(async () => window.dispatchEvent(new Event('online')))
  await pass(5000)
  expect(polls.length).toBe(1)
  // What happened meanwhile makes the next one due.
  await last().end()
  await pass(0)
  expect(polls.length).toBe(2)
})

test('reports a failed poll and still runs the next one', async () => {
  await start(1000)
  await pass(1000)
  const error = new Error('a bug of ours')
  await last().fail(error)
  expect(reportError).toHaveBeenCalledWith(error)
  await pass(1000)
  expect(polls.length).toBe(2)
})

test('ends with its component: aborts the current poll and starts no other', async () => {
  const { unmount } = await start(1000)
  await pass(1000)
  expect(last().signal.aborted).toBe(false)
  await unmount()
  expect(last().signal.aborted).toBe(true)
  await last().end()
  await hide(true)
  await hide(false)
  window.dispatchEvent(new Event('online'))
  await pass(10_000)
  expect(polls.length).toBe(1)
  expect(vi.getTimerCount()).toBe(0)
})

test('stops while disabled, and starts over afterwards', async () => {
  const { rerender } = await start(1000, false)
  await pass(5000)
  expect(polls.length).toBe(0)
  await rerender({ everyMs: 1000, enabled: true })
  await pass(1000)
  expect(polls.length).toBe(1)
  await rerender({ everyMs: 1000, enabled: false })
  expect(last().signal.aborted).toBe(true)
})
