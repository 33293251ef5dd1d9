import { expect, test, vi } from 'vitest'
import { ACCESS_ENDED } from '../../../src/domain/door.ts'
import type { LogLine } from '../../../src/domain/run-log.ts'
import { whileSignedIn } from '../../../src/server/door/while-signed-in.ts'
import { textSoFar } from '../../../src/server/fleet/run-log.ts'
import { noLog } from '../../../testing/stack/no-log.ts'
import { testContext } from '../../../testing/stack/test-context.ts'

/** What the site sends to someone who signed in, and the keeper's connection that says when they may read no more. */
function answerOf(parts: AsyncIterator<string>) {
  const held: string[] = []
  const socket = Object.assign(new EventTarget(), { accept() {}, close: vi.fn() })
  const keeper = {
    fetch: async (_: string, { headers }: { headers: Record<string, string> }) => {
      held.push(headers['x-door-keep'] ?? '')
      return { webSocket: socket }
    },
  }
  const visitor = new AbortController()
  const c = {
    var: { signIn: { user: { id: 'usr_1' }, id: 'sgn_1', scope: null } },
    env: { DOOR_KEEPER: { getByName: () => keeper } },
    req: { raw: { signal: visitor.signal } },
  }
  const end = () => socket.dispatchEvent(Object.assign(new Event('close'), { code: ACCESS_ENDED }))
  const body = whileSignedIn(c as unknown as Parameters<typeof whileSignedIn>[0], parts)
  return { body, held, socket, end, leave: () => visitor.abort() }
}

async function* endless() {
  for (;;) yield 'a part'
}

test('what someone reads slowly breaks off with their sign-in', async () => {
  vi.useFakeTimers()
  const { body, held, socket, end } = answerOf(endless())
  const reader = body.getReader()
  expect((await reader.read()).done).toBe(false)
  await vi.advanceTimersByTimeAsync(600)
  expect(held.map((one) => JSON.parse(one))).toEqual([
    { runId: '', pass: { kind: 'sign_in', id: 'sgn_1' }, what: 'site' },
  ])
  expect((await reader.read()).done).toBe(false)
  end()
  await vi.advanceTimersByTimeAsync(0)
  await expect(reader.read()).rejects.toThrow('access ended')
  expect(socket.close).not.toHaveBeenCalled()
  vi.useRealTimers()
})

test('nothing is held once it has been read, was given up, its reader left, or was never read', async () => {
  vi.useFakeTimers()
  const read = answerOf(['all of it'][Symbol.iterator]() as unknown as AsyncIterator<string>)
  expect(await new Response(read.body).text()).toBe('all of it')
  const late = answerOf(endless())
  const reader = late.body.getReader()
  await reader.read()
  await vi.advanceTimersByTimeAsync(600)
  await reader.cancel()
  expect(late.socket.close).toHaveBeenCalledOnce()
  // The runtime doesn't cancel what they no longer read.
  const [left, soon] = [answerOf(endless()), answerOf(endless())]
  for (const { body } of [left, soon]) await body.getReader().read()
  soon.leave()
  await vi.advanceTimersByTimeAsync(600)
  left.leave()
  expect(left.socket.close).toHaveBeenCalledOnce()
  // As for HEAD.
  const unread = answerOf(endless())
  await vi.advanceTimersByTimeAsync(600)
  expect([read.held, late.held.length, soon.held, unread.held]).toEqual([[], 1, [], []])
  vi.useRealTimers()
})

async function allOf(parts: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = []
  for await (const part of parts) all.push(part)
  return all
}

test('a log as text ends where it stood when it began', async () => {
  const all: LogLine[] = []
  const say = (text: string) => all.push({ n: all.length + 1, at: '2026-01-01T00:00:00.000Z', source: 'stdout', text })
  const runLog = () => ({
    ...noLog,
    tail: async (count: number) => all.slice(-count),
    // Two lines a part.
    read: async (after: number) => ({
      lines: all.slice(after, after + 2),
      next: Math.min(after + 2, all.length),
      complete: false,
    }),
  })
  const read = (isOver: boolean) => textSoFar(testContext({ runLog }), { id: 'ses_1', isOver, isGone: false, until: 0 })
  expect(await allOf(read(false))).toEqual([])
  for (const text of ['one', 'two', 'three']) say(text)
  const parts = read(false)
  const first = await parts.next()
  say('written after')
  const rest = await allOf(parts)
  const text = first.value + rest.join('')
  for (const line of ['one', 'two', 'three']) expect(text).toContain(line)
  expect(text).not.toContain('written after')
  expect((await allOf(read(true))).join('')).toContain('written after')
})
