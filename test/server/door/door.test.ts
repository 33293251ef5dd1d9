import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { newPerson } from '../../../testing/people/client.ts'
import {
  ask,
  cookieOf,
  newRunner,
  OPENS,
  onMachine,
  openDoorStack,
  socketTo,
  tokenOf,
} from '../../../testing/stack/door.ts'

const stack = await openDoorStack()
const ada = await newRunner(stack)
const { door_url: url } = ada.server
const WEB = 9090
const own = url.replace('.door', `-${WEB}.door`)

test('the owner comes in by a ticket that works once, and nobody else does', async () => {
  expect(url).toMatch(/^http:\/\/[a-z0-9]{20,}\.door\.localhost:\d+\/$/)
  const away = await ask(`${url}a/b?c=d`, OPENS)
  // What a browser knows for the machine's own pages makes it no program.
  expect((await ask(url, { ...OPENS, authorization: 'Basic eDp5' })).status).toBe(302)
  expect(away.status).toBe(302)
  expect(away.headers.location).toContain(`${stack.url}/servers/${ada.server.id}/open?`)
  const open = new URL(away.headers.location as string)
  const ticket = (await ada.person.request('GET', open.pathname + open.search)).headers.get('location') ?? ''
  // Looking ahead uses nothing up.
  expect((await ask(ticket, { ...OPENS, 'sec-purpose': 'prefetch' })).status).toBe(405)
  const entered = await ask(ticket, OPENS)
  expect(entered).toMatchObject({
    status: 302,
    headers: { location: '/a/b?c=d', 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' },
  })
  expect(entered.headers['set-cookie']?.[0]).toMatch(/^door=[^;]+; Path=\/; HttpOnly; SameSite=Lax$/)
  expect((await ask(ticket, OPENS)).status).toBe(404)
  const cookie = entered.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
  const page = await ask(url, { ...OPENS, cookie })
  expect(page).toMatchObject({ status: 200 })
  expect(page.text.includes('Free camera')).toBe(true)
  expect((await ask(url, { cookie, 'service-worker': 'script' })).status).toBe(403)

  const eve = await newPerson(stack.url, 'Eve')
  expect((await eve.request('GET', open.pathname + open.search)).status).toBe(404)
  const bob = await newRunner(stack, 'Bob')
  expect((await ask(bob.server.door_url, { cookie })).status).toBe(401)
  const other = new URL(ticket)
  other.host = new URL(bob.server.door_url).host
  const fresh = (await ada.person.request('GET', open.pathname + open.search)).headers.get('location') ?? ''
  other.search = new URL(fresh).search
  expect((await ask(other.href, OPENS)).status).toBe(404)
})

test('programs need a token that may operate and belongs to the owner', async () => {
  const bearer = async (token: string) => (await ask(url, { authorization: `Bearer ${token}` })).status
  expect(await ask(url)).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } })
  expect(await bearer(await tokenOf(ada.person, 'operate'))).toBe(200)
  expect(await bearer(await tokenOf(ada.person, 'read'))).toBe(401)
  expect(await bearer(await tokenOf(await newPerson(stack.url, 'Eve'), 'operate'))).toBe(401)
  expect(await bearer('pg_nothing')).toBe(401)
})

test('every path is the machine’s, also those of our own files', async () => {
  const cookie = await cookieOf(ada.person, url)
  await onMachine(ada.server.machine, 8765, (req, res) => res.end(`the machine has ${req.url}`))
  const at = url.replace('.door', '-8765.door')
  for (const path of [
    'favicon.svg',
    'assets/x',
    'manifest.webmanifest',
    'texts/terms.txt',
    'icon-192.png',
    'healthz',
  ]) {
    expect((await ask(at + path, { cookie })).text).toBe(`the machine has /${path}`)
    expect((await ask(at + path)).status).toBe(401)
  }
  expect((await ask(`${stack.url}/favicon.svg`)).text).toMatch('<svg')
})

test('names that only look like a run’s lead nowhere', async () => {
  const cookie = await cookieOf(ada.person, url)
  const { host, port } = new URL(url)
  const [label = ''] = host.split('.')
  const names = [
    `${label}-22.door`,
    `${label}-09090.door`,
    `${label}-65536.door`,
    `${label}-9090-9090.door`,
    `-${label}.door`,
    `x.${label}.door`,
    `${label}.${label}.door`,
    `${label.slice(0, -1)}.door`,
    `${label}${'a'.repeat(40)}.door`,
    `xn--${label}.door`,
    'door',
  ]
  const answers = await Promise.all(names.map((name) => ask(`http://${name}.localhost:${port}/`, { cookie })))
  expect(answers.map(({ status }) => status)).toEqual(names.map(() => 404))
  // Names of hosts may end with the root's dot, and their case doesn't count.
  const dotted = await ask(url, { cookie, host: `${label}.door.localhost.:${port}` })
  expect([dotted.status, dotted.text.includes('No server has this address.')]).toEqual([404, true])
  expect((await ask(url, { cookie, host: host.toUpperCase() })).status).toBe(200)
})

test('bodies, answers, ranges, events, and WebSockets pass both ways', async () => {
  const cookie = await cookieOf(ada.person, url)
  let asked: Record<string, unknown> = {}
  const machine = await onMachine(ada.server.machine, WEB, async (req, res) => {
    asked = { method: req.method, url: req.url, ...req.headers }
    if (req.url === '/events') {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      return void res.write('data: first\n\n')
    }
    if (req.url === '/stream') return void req.pipe(res)
    const body = Buffer.concat(await req.toArray())
    if (req.headers.range) return void res.writeHead(206, { 'content-range': 'bytes 1-2/4' }).end('bc')
    res.setHeader('x-method', req.method ?? '').end(body)
  })
  const sockets = new WebSocketServer({ server: machine.server, handleProtocols: (all) => [...all][1] ?? false })
  sockets.on('connection', (socket) => socket.on('message', (data, binary) => socket.send(data, { binary })))

  const sent = randomBytes(3_000_000).toString('base64')
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const { status, headers, text } = await ask(`${own}x?y=1`, { cookie }, { method, body: sent })
    expect([status, headers['x-method'], text === sent]).toEqual([200, method, true])
  }
  expect(asked).toMatchObject({ method: 'DELETE', url: '/x?y=1' })
  for (const method of ['HEAD', 'OPTIONS', 'PROPFIND']) {
    const { status, headers, text } = await ask(own, { cookie }, { method })
    expect([status, headers['x-method'], text]).toEqual([200, method, ''])
  }
  expect(await ask(own, { cookie, range: 'bytes=1-2' })).toMatchObject({ status: 206, text: 'bc' })

  const { host, port } = new URL(own)
  // Each part comes back before the next one is sent: nothing waits for the whole.
  const stream = request({ host: '127.0.0.1', port, path: '/stream', method: 'POST', headers: { host, cookie } })
  stream.write('part 0')
  const [answer] = (await once(stream, 'response')) as [IncomingMessage]
  for (let i = 0; i < 5; i++) {
    expect(String((await once(answer, 'data'))[0])).toBe(`part ${i}`)
    stream.write(`part ${i + 1}`)
  }
  stream.end()
  expect(String(Buffer.concat(await answer.toArray()))).toBe('part 5')

  const first = await new Promise((resolve, reject) => {
    const get = request({ host: '127.0.0.1', port, path: '/events', headers: { host, cookie } }, (answer) =>
      answer.once('data', (chunk) => {
        resolve(String(chunk))
        get.destroy()
      }),
    )
    get.on('error', reject).end()
  })
  expect(first).toBe('data: first\n\n')

  const talk = await socketTo(`${own}live`, { cookie, origin: url.slice(0, -1) }, ['one', 'two'])
  expect(talk.socket.protocol).toBe('two')
  talk.socket.send('text')
  talk.socket.send(Buffer.from([0, 255]))
  await expect.poll(() => talk.received).toEqual(['text', Buffer.from([0, 255])])
})
