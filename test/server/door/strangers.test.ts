import { randomInt } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { newApiToken } from '../../../src/domain/api-token.ts'
import { passCookie, readPass } from '../../../src/server/door/cookie.ts'
import { answerAtDoor } from '../../../src/server/door/entry.ts'
import { testContext } from '../../../testing/stack/test-context.ts'

vi.mock('cloudflare:workers', () => ({ DurableObject: class {} }))

const LABEL = 'abcdefghijklmnopqrstuvwx'
const door = { domain: 'door.example', scheme: 'https' as const, port: '', webPorts: [9090], tcpPorts: [] }

/** As in workerd. */
class FixedLengthStream {
  #stream = new TransformStream()
  readable = this.#stream.readable
  writable = this.#stream.writable
}

/** A door whose every read answers this, and whose machine says hello. */
function openDoor(rows: unknown[]) {
  vi.stubGlobal('FixedLengthStream', FixedLengthStream)
  let [reads, writes] = [0, 0]
  const query = new Proxy(() => {}, { get: (_, name) => (name === 'then' ? undefined : () => query) }) as never
  const write = { set: () => write, where: async () => void writes++ }
  const db = { select: () => query, update: () => write, batch: async () => (reads++ < 0 ? [] : rows) }
  const ctx = testContext({
    db: db as never,
    config: { door, secretKey: `${Math.random()}`.padEnd(40, '.'), origins: ['https://site.example'] },
    machine: {
      fetch: async () => new Response('hello', { headers: { 'content-length': '5' } }),
      connect: () => expect.unreachable(),
    },
    background: () => {},
    log: () => {},
  })
  const counted: string[] = []
  let isFull = false
  const env = {
    DOOR_KEEPER: { getByName: () => ({ fetch: async () => new Response('opened', { status: 200 }) }) },
    OUTER_LIMIT: { limit: async ({ key }: { key: string }) => ({ success: counted.push(key) > 0 && !isFull }) },
  } as unknown as Parameters<typeof answerAtDoor>[2]
  const ask = (headers: Record<string, string> = {}, path = '/', { method = 'GET', label = LABEL } = {}) =>
    answerAtDoor(
      ctx,
      new Request(`https://${label}.door.example${path}`, {
        method,
        headers: { 'cf-connecting-ip': '2001:db8:1:2:ffff::9', ...headers },
      }),
      env,
    )
  return { ctx, ask, counted, fill: () => (isFull = true), reads: () => reads, writes: () => writes }
}

const FOUND = { runId: 'ses_1', userId: 'usr_1', label: LABEL, address: '10.42.0.1', state: 'open' }

test('strangers are counted by their network, whatever they show, and refused before anything is read', async () => {
  const { ask, counted, fill, reads } = openDoor([[FOUND], [], []])
  expect((await ask()).status).toBe(401)
  expect(counted).toEqual(['2001:db8:1:2'])
  fill()
  const before = reads()
  const token = newApiToken(randomInt)
  for (const headers of [{}, { cookie: '__Host-door=forged.x' }, { authorization: `Bearer ${token}` }]) {
    const refused = await ask(headers)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect(await refused.text()).toContain('Too many requests from your network. Please try again in a minute.')
  }
  const entering = await ask({}, '/.door/enter?ticket=guess')
  expect(entering.status).toBe(429)
  // Its address still has the ticket, which no script of this host may read.
  expect(entering.headers.get('content-security-policy')).toMatch(/; sandbox$/)
  expect(reads()).toBe(before)
  expect((await ask({ 'cf-connecting-ip': '127.0.0.1' })).status).toBe(401)
})

test('who has a pass loads hundreds of files, and a program that came in is not counted again', async () => {
  const { ctx, ask, counted, fill } = openDoor([[FOUND], [{ id: 'in_1' }], []])
  const cookie = passCookie(ctx, door, LABEL, { kind: 'sign_in', id: 'in_1' }).split(';')[0] as string
  fill()
  for (let i = 0; i < 300; i++) expect((await ask({ cookie })).status).toBe(200)
  expect(counted).toEqual([])

  const program = openDoor([[{ id: 'tok_1', scope: 'operate', user: { id: FOUND.userId } }], [FOUND]])
  const authorization = `Bearer ${newApiToken(randomInt)}`
  expect((await program.ask({ authorization })).status).toBe(200)
  program.fill()
  expect((await program.ask({ authorization })).status).toBe(200)
  expect(program.counted).toHaveLength(1)
})

test('pages of someone with a pass note their use once it is due, and what they load never does', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  for (const [seenAgo, wanted] of [
    [6, 1],
    [4, 0],
  ] as const) {
    const lastSeenAt = Date.now() - seenAgo * 60_000
    const { ctx, ask, writes } = openDoor([[FOUND], [{ id: 'in_1', lastSeenAt }], []])
    const cookie = passCookie(ctx, door, LABEL, { kind: 'sign_in', id: 'in_1' }).split(';')[0] as string
    expect((await ask({ cookie, 'sec-fetch-mode': 'no-cors' })).status).toBe(200)
    expect(writes()).toBe(0)
    for (let i = 0; i < 300; i++) expect((await ask({ cookie, 'sec-fetch-mode': 'navigate' })).status).toBe(200)
    expect(writes()).toBe(wanted)
  }
})

test('a WebSocket counts by network for its run or guest link, apart from strangers and pages', async () => {
  const origin = `https://${LABEL}.door.example`
  for (const [kind, id, key] of [
    ['sign_in', 'in_1', 'ses_1'],
    ['guest', 'gst_1', 'gst_1'],
  ] as const) {
    const isIn = [{ id, lastSeenAt: Date.now() }]
    const { ctx, ask, counted, fill } = openDoor(kind === 'guest' ? [[FOUND], [], isIn] : [[FOUND], isIn, []])
    const cookie = passCookie(ctx, door, LABEL, { kind, id }).split(';')[0] as string
    const upgrade = { cookie, origin, upgrade: 'websocket' }
    expect((await ask(upgrade)).status).toBe(200)
    expect(counted.splice(0)).toEqual([`${key} 2001:db8:1:2`])
    expect((await ask({ ...upgrade, 'cf-connecting-ip': '127.0.0.1' })).status).toBe(200)
    fill()
    expect((await ask({ cookie, 'sec-fetch-mode': 'navigate' })).status).toBe(200)
    expect(counted).toEqual([])
    expect((await ask(upgrade)).status).toBe(429)
  }
})

test('entering always counts, with a pass as well, and so does a pass that ended', async () => {
  const { ctx, ask, counted, fill, reads } = openDoor([[FOUND], [], [{ id: 'gst_1' }]])
  const cookie = passCookie(ctx, door, LABEL, { kind: 'guest', id: 'gst_1' }).split(';')[0] as string
  expect((await ask({ cookie })).status).toBe(200)
  expect(counted).toEqual([])
  fill()
  for (let i = 0; i < 20; i++) expect((await ask({ cookie }, `/.door/enter?ticket=${i}`)).status).toBe(429)
  expect([counted.length, reads()]).toEqual([20, 1])
  expect((await ask({ cookie })).status).toBe(200)

  const ended = openDoor([[FOUND], [], []])
  const old = passCookie(ended.ctx, door, LABEL, { kind: 'guest', id: 'gst_1' }).split(';')[0] as string
  expect((await ended.ask({ cookie: old })).status).toBe(401)
  ended.fill()
  for (let i = 0; i < 20; i++) expect((await ended.ask({ cookie: old })).status).toBe(429)
  expect(ended.reads()).toBe(1)
})

test('of the way into the ports, only what we would read for counts, so a whole room comes in at once', async () => {
  const { ctx, ask, counted, fill, reads } = openDoor([[FOUND], [{ id: 'in_1' }], []])
  const port = { label: `${LABEL}-9090` }
  fill()
  const asked = await ask({ 'sec-fetch-dest': 'empty' }, '/.door/enter', port)
  const pass = passCookie(ctx, door, LABEL, { kind: 'sign_in', id: 'in_1' }).split(';')[0] as string
  const { pathname, search } = new URL(asked.headers.get('location') ?? '')
  const back = await ask({ cookie: pass }, pathname + search)
  const given = new URL(back.headers.get('location') ?? '')
  const way = { cookie: asked.headers.getSetCookie()[0]?.split(';')[0] ?? '', 'sec-fetch-dest': 'empty' }
  expect((await ask(way, given.pathname + given.search, port)).status).toBe(204)
  expect([counted.length, reads()]).toEqual([0, 1])
  // Whether they are in by a faster tab is a read.
  expect((await ask(way, '/.door/enter?pass=forged', port)).status).toBe(429)
  expect([counted.length, reads()]).toEqual([1, 1])
})

test('what was read a moment ago counts for one door and one pass only', async () => {
  const { ctx, ask, reads } = openDoor([[{ id: 'tok_1', scope: 'operate', user: { id: FOUND.userId } }], [FOUND]])
  const authorization = `Bearer ${newApiToken(randomInt)}`
  await ask({ authorization })
  await ask({ authorization })
  expect(reads()).toBe(1)
  await ask({ authorization }, '/', { label: LABEL.replace('a', 'b') })
  expect(reads()).toBe(2)
  await ask({ authorization: `Bearer ${newApiToken(randomInt)}` })
  expect(reads()).toBe(3)
  // A cookie of one door says nothing at another one.
  const cookie = passCookie(ctx, door, LABEL, { kind: 'sign_in', id: 'in_1' }).split(';')[0] as string
  expect(readPass(ctx, door, LABEL, cookie)).toEqual({ kind: 'sign_in', id: 'in_1' })
  expect(readPass(ctx, door, LABEL.replace('a', 'b'), cookie)).toBe(null)
  // Another site of the domain could set one of another name.
  expect(readPass(ctx, door, LABEL, cookie.replace('__Host-', ''))).toBe(null)
})

test('sends a browser that opens a page to the site, and tells programs how to sign in', async () => {
  const { ask } = openDoor([[FOUND], [], []])
  const opens = { accept: 'text/html' }
  for (const method of ['GET', 'HEAD']) expect((await ask(opens, '/a?b=c', { method })).status).toBe(302)
  expect((await ask(opens, '/a?b=c')).headers.get('location')).toBe(
    'https://site.example/servers/ses_1/open?to=%2Fa%3Fb%3Dc',
  )
  expect((await ask(opens, '/', { method: 'POST' })).status).toBe(401)
  expect((await ask({ accept: '*/*' })).status).toBe(401)
  expect((await ask({ ...opens, authorization: 'Bearer pg_wrong' })).status).toBe(401)
})

test('a page of another site uses nobody’s cookie; a program may say any origin', async () => {
  const origin = 'https://evil.example'
  const { ctx, ask } = openDoor([[FOUND], [{ id: 'in_1' }], []])
  const cookie = passCookie(ctx, door, LABEL, { kind: 'sign_in', id: 'in_1' }).split(';')[0] as string
  expect((await ask({ cookie })).status).toBe(200)
  // A token of the run's own program, which may look a little like ours.
  expect((await ask({ cookie, authorization: 'Bearer pg_own' })).status).toBe(200)
  expect((await ask({ cookie, origin })).status).toBe(403)
  const program = openDoor([[{ id: 'tok_1', scope: 'operate', user: { id: FOUND.userId } }], [FOUND]])
  expect((await program.ask({ authorization: `Bearer ${newApiToken(randomInt)}`, origin })).status).toBe(200)
})

test('over https, the cookie is this host’s, and no script or plain http sees it', () => {
  const { ctx } = openDoor([])
  const cookie = passCookie(ctx, door, LABEL, { kind: 'guest', id: 'gst_1' })
  expect(cookie).toMatch(/^__Host-door=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
})

test('a failure of ours asks to try again, and says nothing of it', async () => {
  const { ctx, ask } = openDoor([])
  ctx.db.batch = () => Promise.reject(new Error('secret'))
  const failed = await ask()
  expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, '2'])
  expect(await failed.text()).not.toContain('secret')
})
