import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { newApiToken } from '../../../src/domain/api-token.ts'
import { briefly } from '../../../src/server/door/briefly.ts'
import { endedCookies, passCookie, readPass, readShown } from '../../../src/server/door/cookie.ts'
import { testContext } from '../../../testing/stack/test-context.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const door = { domain: 'a.door.example', scheme: 'https', port: '', webPorts: [], tcpPorts: [] } as const
const ctx = testContext({ config: { secretKey: 'key' } })

test('a stranger’s long token is no token, and nothing keeps it', () => {
  const shown = (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return readShown(
      ctx,
      { ...door, webPorts: [], tcpPorts: [] },
      'a'.repeat(24),
      new Request('https://x', { headers }),
    )
  }
  const long = shown(`pg_${'a'.repeat(100_000)}`)
  expect([long.bearer, long.key.length < 100]).toEqual([null, true])
  expect(shown(`pg_${'b'.repeat(100_000)}`).key).toBe(long.key)
  const token = newApiToken(() => 7)
  expect(shown(token)).toMatchObject({ bearer: token, key: expect.stringContaining(token) })
})

test('what was read is kept for half a second, then dropped', async () => {
  const set = vi.spyOn(Map.prototype, 'set')
  const { find, known } = briefly<number>()
  let reads = 0
  const read = async () => ++reads
  await find('first', read)
  const kept = set.mock.contexts.at(-1) as Map<string, unknown>
  set.mockRestore()
  for (let i = 0; i < 1_000; i++) await find(`at once ${i}`, read)
  expect([await find('first', read), kept.size]).toEqual([1, 1_001])
  vi.advanceTimersByTime(500)
  expect(known('first')).toBe(null)
  await find('later', read)
  expect([...kept.keys()]).toEqual(['later'])
  for (let i = 0; i < 2_100; i++) await find(`more ${i}`, read)
  expect(kept.size).toBeLessThanOrEqual(2_000)
})

test('of many cookies that could be a pass, we check the first ten, since each costs a signature', () => {
  const ours = { ...door, webPorts: [], tcpPorts: [] }
  const label = 'a'.repeat(24)
  const pass = passCookie(ctx, ours, label, { kind: 'guest', id: 'gst_1' }).split(';')[0] as string
  const after = (others: number) =>
    readPass(ctx, ours, label, [...Array<string>(others).fill('__Host-door=a.b'), 'other=1', pass].join('; '))
  expect([after(9)?.id, after(10)]).toEqual(['gst_1', null])
})

test('many cookies on a long path end a hundred, and cost no more than that', () => {
  const cookie = Array.from({ length: 1_300 }, (_, i) => `n${i}=1`).join('; ')
  const url = `https://x.a.door.example/${'a/'.repeat(4_000)}`
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const slice = vi.spyOn(String.prototype, 'slice')
  const ended = endedCookies({ ...door, webPorts: [], tcpPorts: [] }, new Request(url, { headers: { cookie } }))
  const slices = slice.mock.calls.length
  slice.mockRestore()
  expect([ended.length, ended[0], slices < 5_000]).toEqual([
    100,
    'n0=; Domain=a.door.example; Path=/; Max-Age=0; Secure',
    true,
  ])
  const few = endedCookies(
    { ...door, domain: 'door.example', webPorts: [], tcpPorts: [] },
    new Request('https://x.door.example/a/b/c', { headers: { cookie: 'n=1; __Host-door=x' } }),
  )
  const pathsOf = (ended: string[]) => ended.map((one) => /Path=([^;]*)/.exec(one)?.[1])
  const paths = ['/', '/a', '/a/', '/a/b', '/a/b/', '/a/b/c']
  // A browser keeps both kinds of one name.
  expect(pathsOf(few.filter((one) => one.endsWith('; Secure')))).toEqual(paths)
  expect(pathsOf(few.filter((one) => one.endsWith('; Secure; Partitioned')))).toEqual(paths)
})

test('a hostile page’s cookies all end, whatever their names and paths, in answers that a browser takes', () => {
  const jars = {
    // As many as end at once on the path above theirs.
    '/ws': Array.from({ length: 60 }, (_, i) => `n${i}`),
    // Chromium takes no answer whose headers are over 256 KB, and Cloudflare none over 128 KB.
    '/a/b': Array.from({ length: 20 }, (_, i) => `${i}`.padEnd(3_900, 'n')),
    '/': ['a, b', 'c, d'],
  }
  for (const [path, names] of Object.entries(jars)) {
    const left = new Set(names)
    for (let visits = 0; left.size && visits < 500; visits++) {
      const cookie = [...left].map((name) => `${name}=1`).join('; ')
      const request = new Request(`https://x.a.door.example${path}`, { headers: { cookie } })
      const ended = endedCookies({ ...door, webPorts: [], tcpPorts: [] }, request)
      expect(Buffer.byteLength(ended.join('\n'))).toBeLessThan(33_000)
      for (const one of ended) {
        const [, name = '', at] = /^([^=]*)=; Domain=a\.door\.example; Path=([^;]*); Max-Age=0; Secure$/.exec(one) ?? []
        if (at === path) left.delete(name)
      }
    }
    expect([path, left.size]).toEqual([path, 0])
  }
})
