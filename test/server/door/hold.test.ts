import { expect, test, vi } from 'vitest'
import type { Door } from '../../../src/domain/door.ts'
import type { FoundDoor } from '../../../src/server/door/access.ts'
import { FULL, hold, type Keeper, whileAllowed } from '../../../src/server/door/hold.ts'
import { passOn } from '../../../src/server/door/pass-on.ts'
import { testContext } from '../../../testing/stack/test-context.ts'

/** As on the platform: a stub whose object fell over keeps failing. */
const broken = () => ({ fetch: async () => Promise.reject(new Error('Network connection lost.')) }) as unknown as Keeper

function keeperThatHolds() {
  const socket = Object.assign(new EventTarget(), { accept: vi.fn(), close: vi.fn() })
  return { socket, keeper: { fetch: async () => ({ webSocket: socket }) } as unknown as Keeper }
}

test('keeps an access while its keeper is replaced, and ends it if no keeper comes back', async () => {
  vi.useFakeTimers()
  const first = keeperThatHolds()
  const second = keeperThatHolds()
  const stubs = [first.keeper, broken(), second.keeper]
  let ended = false
  const held = { runId: 'ses_1', pass: {} } as Parameters<typeof hold>[1]
  void hold(() => stubs.shift() ?? broken(), held).ended.then(() => {
    ended = true
  })
  await vi.advanceTimersByTimeAsync(0)
  first.socket.dispatchEvent(Object.assign(new Event('close'), { code: 1006 }))
  await vi.advanceTimersByTimeAsync(10_000)
  expect([second.socket.accept.mock.calls.length, ended]).toEqual([1, false])

  second.socket.dispatchEvent(Object.assign(new Event('close'), { code: 1006 }))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(ended).toBe(true)
})

test('a request beyond what a keeper takes ends, and not as if its access had ended', async () => {
  vi.useFakeTimers()
  const full = () => ({ fetch: async () => ({ status: 429 }) }) as unknown as Keeper
  const held = { runId: 'ses_1', pass: { kind: 'token', id: 'tok_1' } } as const
  const { signal } = whileAllowed(full, held, new AbortController().signal)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(signal.reason).toBe(FULL)
  vi.useRealTimers()
})

test('a visitor beyond what a keeper takes reads that, and when to come back, and no log blames the machine', async () => {
  vi.useFakeTimers()
  const full = () => ({ fetch: async () => ({ status: 429 }) }) as unknown as Keeper
  const log = vi.fn()
  const machine = {
    fetch: (_address: string, _path: string, { signal }: RequestInit) =>
      new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    connect: () => expect.unreachable(),
  }
  const visit = {
    door: { runId: 'ses_1', userId: 'user_1' } as FoundDoor,
    pass: { kind: 'guest', id: 'gst_1' } as const,
    to: {
      door: { domain: 'door.localhost', scheme: 'http', port: '' } as Door,
      label: 'label',
      port: null,
      address: '10.0.0.1:9090',
      cookie: 'door',
    },
  }
  const request = new Request('http://label.door.localhost/slow')
  const answering = passOn(testContext({ machine, log }), request, visit, full)
  await vi.advanceTimersByTimeAsync(1_000)
  const answer = await answering
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '5'])
  expect(await answer.text()).toContain('Too many requests to this server are open at once.')
  expect(log.mock.calls).toEqual([])
  vi.useRealTimers()
})

test('a keeper that has too many ends the access', async () => {
  const { ended, isHeld } = hold(() => ({ fetch: async () => ({ status: 429 }) }) as unknown as Keeper, {
    runId: 'ses_1',
    pass: { kind: 'token', id: 'tok_1' },
  })
  expect(await isHeld).toBe(false)
  await ended
})
