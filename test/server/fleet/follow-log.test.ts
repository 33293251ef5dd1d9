import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HOUR_MS } from '../../../src/domain/instant.ts'
import { followLog } from '../../../src/server/fleet/follow-log.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const PART = { lines: [{ n: 8, at: '', source: 'stdout', text: 'hello' }], next: 8, complete: false }

/** A log that never says anything, or the same again, and what became of its reader. */
function silentLog(answer?: () => Promise<unknown>, { talks = false } = {}) {
  const state = { closed: false, released: false, asked: [] as string[] }
  const webSocket = {
    readyState: WebSocket.OPEN,
    accept: () => {},
    addEventListener: (type: string, hear: (message: { data: string }) => void) => {
      if (talks && type === 'message') hear({ data: JSON.stringify(PART) })
    },
    send: (after: string) => void state.asked.push(after),
    close: () => {
      state.closed = true
    },
  }
  const log = { fetch: answer ?? (async () => ({ webSocket })) } as unknown as Parameters<typeof followLog>[0]
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const holding = {
    ended,
    release: () => {
      state.released = true
    },
  }
  const follow = async () => (await followLog(log, { after: 7, isOver: false }, holding))?.getReader()
  return { state, follow, end }
}

test('a quiet log says so every 15 seconds, and ends after 12 hours', async () => {
  const { state, follow } = silentLog()
  const reader = await follow()
  const began = Date.now()
  let comments = 0
  for (;;) {
    const reading = reader?.read()
    await vi.advanceTimersByTimeAsync(15_000)
    const part = await reading
    if (!part || part.done) break
    expect(new TextDecoder().decode(part.value)).toBe(':\n\n')
    comments++
  }
  expect(comments).toBe((12 * HOUR_MS) / 15_000 - 1)
  expect(Date.now() - began).toBe(12 * HOUR_MS)
  // It was asked once what follows line 7.
  expect(state).toEqual({ closed: true, released: true, asked: ['7'] })
})

test('the end of what let its reader in ends it at once', async () => {
  const { state, follow, end } = silentLog()
  const reader = await follow()
  const reading = reader?.read()
  await vi.advanceTimersByTimeAsync(1_000)
  end()
  expect(await reading).toMatchObject({ done: true })
  expect(state).toMatchObject({ closed: true, released: true })
})

test('its end also ends a reader who has stopped reading', async () => {
  const { state, follow, end } = silentLog(undefined, { talks: true })
  await follow()
  await vi.advanceTimersByTimeAsync(1_000)
  end()
  await vi.advanceTimersByTimeAsync(1_000)
  // Only one part was requested: the one waiting to be read.
  expect(state).toEqual({ closed: true, released: true, asked: ['7'] })
})

test('a log that cannot be followed leaves nothing of its reader', async () => {
  const full = silentLog(async () => ({ webSocket: null }))
  expect([await full.follow(), full.state.released]).toEqual([undefined, true])
  const broken = silentLog(() => Promise.reject(new Error('Network connection lost.')))
  await expect(broken.follow()).rejects.toThrow('Network connection lost.')
  expect(broken.state.released).toBe(true)
})
