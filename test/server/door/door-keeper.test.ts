import { beforeEach, expect, test, vi } from 'vitest'
import type { Held, Pass } from '../../../src/server/door/access.ts'
import { DoorKeeper } from '../../../src/server/door/door-keeper.ts'
import { KEEP_HEADER } from '../../../src/server/door/hold.ts'
import { testContext } from '../../../testing/stack/test-context.ts'
// Loaded when needed, which no fake timer would wait for.
import '../../../src/server/door/access.ts'
import '../../../src/server/door/refusals.ts'

vi.mock('cloudflare:workers', () => ({
  DurableObject: class {
    ctx: unknown
    constructor(ctx: unknown) {
      this.ctx = ctx
    }
  },
}))
vi.mock('../../../src/server/runtime/create-context.ts', () => ({ createContext: async () => ctx }))
let ctx: ReturnType<typeof testContext>

const RUN = { runId: 'ses_1', state: 'open' }
const passOf = (id: string): Pass => ({ kind: id.startsWith('gst') ? 'guest' : 'sign_in', id })

/** Whom the database knows, and the keeper that asks it. Answers of the machine wait for `answer`. */
function openKeeper(held: Held[] = []) {
  const live = new Set(['in_1', 'in_2', 'gst_1', 'gst_2'])
  const reads: number[] = []
  let [isDown, answer] = [false, () => {}]
  const rows = (kind: string) => [...live].filter((id) => id.startsWith(kind)).map((id) => ({ id }))
  const query = new Proxy(() => {}, { get: (_, name) => (name === 'then' ? undefined : () => query) }) as never
  const db = {
    select: () => query,
    async batch() {
      reads.push(Date.now())
      await new Promise((resolve) => setTimeout(resolve, 20))
      if (isDown) throw new Error('The database is down.')
      return [[RUN], rows('in'), rows('gst')]
    },
  }
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const fetch = async (_to: string, _path: string, { signal }: RequestInit) => {
    const left = new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    await Promise.race([answered, left])
    return new Response('opened')
  }
  const machine = { fetch: fetch as never, connect: () => expect.unreachable() }
  ctx = testContext({ db: db as never, machine, background: () => {}, log: () => {} })
  const sockets = held.map((one) => ({
    readyState: WebSocket.OPEN as number,
    deserializeAttachment: () => one,
    close() {
      this.readyState = WebSocket.CLOSED
    },
  }))
  const state = { getWebSockets: () => sockets, waitUntil: () => {} }
  const keeper = new DoorKeeper(state as never, {} as never)
  const open = async (id: string) => {
    const asked = { runId: RUN.runId, pass: passOf(id), to: '10.0.0.1:9090', path: '/' }
    return (await keeper.fetch(new Request('http://k/socket', { headers: { [KEEP_HEADER]: JSON.stringify(asked) } })))
      .status
  }
  const isOpen = () => sockets.map(({ readyState }) => readyState === WebSocket.OPEN)
  return { keeper, live, reads, open, isOpen, answer, fail: (fails: boolean) => (isDown = fails) }
}

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 })
})

test('the WebSockets of one pass share a read for half a second, until their access ends', async () => {
  const { keeper, live, reads, open, answer } = openKeeper()
  answer()
  const both = Promise.all([...Array(50).fill('in_1'), ...Array(50).fill('gst_1')].map(open))
  await vi.advanceTimersByTimeAsync(100)
  expect([new Set(await both), reads.length]).toEqual([new Set([200]), 2])
  await vi.advanceTimersByTimeAsync(399)
  expect([await open('in_1'), reads.length]).toEqual([200, 2])
  await vi.advanceTimersByTimeAsync(1)
  const later = open('in_1')
  await vi.advanceTimersByTimeAsync(20)
  expect([await later, reads.length]).toEqual([200, 3])

  live.delete('in_1')
  const look = keeper.recheck()
  await vi.advanceTimersByTimeAsync(20)
  await look
  const after = open('in_1')
  await vi.advanceTimersByTimeAsync(20)
  expect([await after, reads.length]).toEqual([401, 5])
})

test('a pass that ended leaves no WebSocket waiting for the machine, and shares nothing', async () => {
  const { live, reads, open } = openKeeper()
  live.delete('in_1')
  for (const wanted of [1, 2]) {
    const opening = open('in_1')
    await vi.advanceTimersByTimeAsync(20)
    expect([await opening, reads.length]).toEqual([401, wanted])
  }
})

test('a read that fails is not shared with the next WebSocket', async () => {
  const { open, answer, fail } = openKeeper()
  answer()
  fail(true)
  const failing = expect(open('in_1')).rejects.toThrow('The database is down.')
  await vi.advanceTimersByTimeAsync(20)
  await failing
  fail(false)
  const next = open('in_1')
  await vi.advanceTimersByTimeAsync(20)
  expect(await next).toBe(200)
})

test('a look takes one read for all passes, and the next begins a quarter of a second later at the earliest', async () => {
  const runId = RUN.runId
  const { keeper, live, reads, isOpen } = openKeeper([
    ...['in_1', 'in_2', 'gst_1', 'gst_2', 'gst_in_1'].map((id) => ({ runId, pass: passOf(id) })),
    { runId: 'ses_over', pass: passOf('in_2') },
    { runId: 'ses_over', pass: passOf('in_2'), what: 'log' },
  ])
  live.delete('in_2')
  live.delete('gst_1')
  const at = Date.now()
  const looks: Promise<void>[] = []
  for (let ms = 0; ms < 1_000; ms += 10) {
    looks.push(keeper.recheck())
    await vi.advanceTimersByTimeAsync(10)
  }
  expect(reads.map((read) => read - at)).toEqual([0, 250, 500, 750, 1_000])
  expect(isOpen()).toEqual([true, false, false, true, false, false, false])
  await vi.advanceTimersByTimeAsync(1_000)
  await Promise.all(looks)
  // After a pause, nothing waits.
  await vi.advanceTimersByTimeAsync(300)
  const begun = Date.now()
  void keeper.recheck()
  await vi.advanceTimersByTimeAsync(0)
  expect(reads.at(-1)).toBe(begun)
})

test("an account has at most 1,000 connections open at once, 500 of them its guests', and 20 logs", async () => {
  vi.stubGlobal('WebSocketPair', () => expect.unreachable())
  const held = (count: number, what?: 'log' | 'site', who = 'in'): Held[] =>
    Array.from({ length: count }, (_, i) => ({ runId: RUN.runId, pass: passOf(`${who}_${i}`), ...(what && { what }) }))
  const ask = async (open: Held[], what?: 'log' | 'site', who = 'in') => {
    const asked = JSON.stringify({ ...held(1, what, who)[0], pass: passOf(`${who}_new`) })
    const request = new Request('http://k/hold', { headers: { [KEEP_HEADER]: asked } })
    return openKeeper(open)
      .keeper.fetch(request)
      .then(({ status }) => status)
      .catch(() => 'taken')
  }
  expect(await ask(held(999))).toBe('taken')
  expect(await ask(held(1_000))).toBe(429)
  expect(await ask(held(499, undefined, 'gst'), undefined, 'gst')).toBe('taken')
  expect(await ask(held(500, undefined, 'gst'), undefined, 'gst')).toBe(429)
  expect(await ask(held(500, undefined, 'gst'))).toBe('taken')
  // What the site itself sends has its own limits.
  expect(await ask([...held(1_000), ...held(19, 'log')], 'log')).toBe('taken')
  expect(await ask(held(20, 'log'), 'log')).toBe(429)
  expect(await ask([...held(999), ...held(20, 'log')])).toBe('taken')
  expect(await ask(held(1_000), 'site')).toBe('taken')
  // One guest's link, or one token, leaves room for the others.
  const alone = (count: number, id: string, what?: 'site') =>
    held(count, what).map((one) => ({ ...one, pass: passOf(id) }))
  expect(await ask(alone(249, 'gst_new'), undefined, 'gst')).toBe('taken')
  expect(await ask(alone(250, 'gst_new'), undefined, 'gst')).toBe(429)
  expect(await ask(alone(250, 'gst_1'), undefined, 'gst')).toBe('taken')
  expect(await ask(alone(499, 'in_new', 'site'), 'site')).toBe('taken')
  expect(await ask(alone(500, 'in_new', 'site'), 'site')).toBe(429)
})
