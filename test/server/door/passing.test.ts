import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ask, cookieOf, newBrowser, newRunner, onMachine, openDoorStack } from '../../../testing/stack/door.ts'
import { rawMachine, sendRaw } from '../../../testing/stack/raw-http.ts'

const stack = await openDoorStack()
const { person, server } = await newRunner(stack)
const { machine } = server
const at = (port: number) => server.door_url.replace('.door', `-${port}.door`)
const own = at(9090)
const { host, port } = new URL(own)
const cookie = await cookieOf(person, server.door_url)

const zipped = gzipSync(randomBytes(600_000))
const big = randomBytes(2_000_000)
const answers: Record<string, (string | Buffer)[]> = {
  '/big': [`HTTP/1.1 200 OK\r\nContent-Length: ${big.length}\r\n`, big],
  '/zipped': [`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${zipped.length}\r\n`, zipped],
  '/range': [
    'HTTP/1.1 206 Partial Content\r\nContent-Encoding: gzip\r\nContent-Range: bytes 1000-400999/*\r\nContent-Length: 400000\r\n',
    zipped.subarray(1000, 401_000),
  ],
  '/chunked': ['HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'],
  // The runtime counts no further.
  '/huge': ['HTTP/1.1 200 OK\r\nContent-Length: 9007199254740993\r\n', 'abc'],
  '/999': ['HTTP/1.1 999 Denied\r\nContent-Length: 2\r\n', 'no'],
  '/600': ['HTTP/1.1 600 Odd\r\nContent-Length: 2\r\n', 'no'],
  '/unknown': ['HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n', big],
}
const cors = 'Access-Control-Allow-Origin: *\r\nVary: Origin\r\nAllow: PUT\r\n'
answers['/data'] = [`HTTP/1.1 200 OK\r\n${cors}X-Secret: a\r\nSet-Cookie: a=b\r\nContent-Length: 2\r\n`]
const got = await rawMachine(machine, 9090, (path) => {
  const [head = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n', body = 'hi'] = answers[path] ?? []
  return Buffer.concat([Buffer.from(`${head}Connection: close\r\n\r\n`), Buffer.from(body)])
})

async function send(line: string, rest = '\r\n', pass = cookie) {
  got.length = 0
  const start = `${line} HTTP/1.1\r\nHost: ${host}\r\nCookie: ${pass}\r\nConnection: close\r\n`
  const { head, body } = await sendRaw(Number(port), start + rest)
  return { status: Number(head.split(' ')[1]), head, body, got: got[0] ?? { head: '', body: '' }, times: got.length }
}

test('a request of any method passes with a body or without one', async () => {
  const lengths = {
    none: '\r\n',
    zero: 'Content-Length: 0\r\n\r\n',
    empty: 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  }
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
    for (const [name, rest] of Object.entries(lengths)) {
      const { status, got } = await send(`${method} /a`, rest)
      expect([method, name, status, got.head.split('\r\n')[0]]).toEqual([method, name, 200, `${method} /a HTTP/1.1`])
      expect(got.body).toBeOneOf(['', '0\r\n\r\n', '0\r\n'])
      // Nothing that a strict server would take for a body.
      if (/^(GET|HEAD)$/.test(method)) expect(got.head).not.toMatch(/transfer-encoding|content-length: [^0]/i)
    }
    const json = await send(`${method} /a`, 'Content-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a":1}')
    expect([method, json.status, json.got.body]).toEqual([method, 200, '{"a":1}'])
    expect(json.got.head).toMatch(/content-length: 7/i)
  }
})

test('an address reaches the machine as it came, except for what the runtime writes in its own way', async () => {
  const upgrade = 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n'
  const runtimes = {
    '/a/../b': '/b',
    '/a/%2e%2E/b': '/b',
    '/a\\b': '/a/b',
    '/{a}^': '/%7Ba%7D%5E',
    "/a?q='x'": '/a?q=%27x%27',
  }
  const kept = ['/', '/?', '/a?', '/a??', '/a//b', '//a', '/%7Eu/%41%2f%5c;p?x=%41&y=%3F', '/a%00%0d', '/a|?{b}|\\^`']
  const wanted = [...kept.map((path) => [path, path]), ...Object.entries(runtimes)]
  const seen: string[][] = []
  for (const [path = ''] of wanted)
    for (const rest of ['\r\n', `${upgrade}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`]) {
      const { got } = await send(`GET ${path}`, rest)
      seen.push([path, got.head.split(' ')[1] ?? ''])
    }
  expect(seen).toEqual(wanted.flatMap((pair) => [pair, pair]))
})

test('a body of GET whose length nobody knows gets its own sentence, and reaches nobody', async () => {
  for (const method of ['GET', 'HEAD']) {
    const { status, body, times } = await send(
      `${method} /a`,
      'Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n',
    )
    expect([status, times]).toEqual([411, 0])
    if (method === 'GET') expect(String(body)).toContain('A GET or HEAD request with a body needs a Content-Length.')
  }
  const posted = await send('POST /a', 'Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n')
  expect([posted.status, posted.got.body]).toEqual([200, '4\r\nbody\r\n0\r\n\r\n'])
})

test('a body that a server may leave unread, and so take for the next request, comes from no guest', async () => {
  const made = await person.post(`/api/v1/servers/${server.id}/guests`, { hours: 1 })
  const browser = newBrowser()
  await browser.open(made.body.guest.url)
  await browser.open(own)
  const guest = browser.cookie(own)
  const next = 'GET /private HTTP/1.1\r\nx-door-visitor: owner\r\nx-ignore: '
  const body = `Content-Length: ${next.length}\r\n\r\n${next}`
  const chunked = `Transfer-Encoding: chunked\r\n\r\n${next.length.toString(16)}\r\n${next}\r\n0\r\n\r\n`
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'TRACE', 'COPY', 'PURGE']) {
    for (const sent of [body, chunked])
      expect([method, await send(`${method} /a`, sent, guest)]).toMatchObject([method, { status: 403, times: 0 }])
    const none = 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n'
    expect([method, await send(`${method} /a`, none, guest)]).toMatchObject([method, { status: 200, times: 1 }])
    expect(await send(`${method} /a`, 'Content-Length: 0\r\n\r\n', guest)).toMatchObject({ status: 200, times: 1 })
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'PROPFIND', 'PROPPATCH', 'MKCOL', 'LOCK', 'REPORT', 'SEARCH', 'QUERY'])
    expect([method, await send(`${method} /a`, body, guest)]).toMatchObject([method, { status: 200, times: 1 }])
})

test('an answer keeps its length and its bytes, also encoded, and also in part', async () => {
  for (const [path, sent] of [
    ['/zipped', zipped],
    ['/range', zipped.subarray(1000, 401_000)],
  ] as const) {
    const { head, body } = await send(`GET ${path}`, 'Accept-Encoding: gzip\r\n\r\n')
    expect(head, path).toMatch(new RegExp(`content-length: ${sent.length}`, 'i'))
    expect(body.equals(sent), path).toBe(true)
  }
  const whole = await send('GET /big')
  expect([whole.head.match(/content-length: (\d+)/i)?.[1], whole.body.equals(big)]).toEqual([`${big.length}`, true])
  const head = await send('HEAD /zipped')
  expect([head.head.match(/content-length: (\d+)/i)?.[1], head.body.length]).toEqual([`${zipped.length}`, 0])
  expect((await send('GET /unknown', 'Accept-Encoding: zstd\r\n\r\n')).head).toMatch(/content-encoding: zstd/i)
})

test("a length that the runtime can't count is the machine's own fault, not ours", async () => {
  const { status, head, body } = await send('GET /huge')
  expect([status, head, String(body)]).toEqual([
    200,
    expect.not.stringMatching(/content-length/i),
    expect.stringContaining('abc'),
  ])
})

test('the machine hears which encodings the visitor takes, and no others', async () => {
  for (const accepts of ['zstd, br;q=0.9', 'identity', '*;q=0']) {
    const { got } = await send('GET /a', `Accept-Encoding: ${accepts}\r\n\r\n`)
    expect(got.head.match(/^accept-encoding: (.*)$/im)?.[1]).toBe(accepts)
  }
  expect((await send('GET /a')).got.head).not.toMatch(/^accept-encoding:/im)
})

test('no header that a program could read as ours passes, however it is spelled', async () => {
  const names = ['X_Door_Visitor', 'x-DOOR_visitor', 'X-Door-Visitor', 'x.door.visitor', 'X_Forwarded_Host', 'CF_RAY']
  const { got } = await send('GET /a', `${names.map((name) => `${name}: owner`).join('\r\n')}\r\nX_Own: kept\r\n\r\n`)
  const lines = got.head.split('\r\n').map((line) => line.toLowerCase())
  expect(lines.filter((line) => /^(x.door.visitor|x.forwarded.host|cf.ray)/.test(line)).sort()).toEqual([
    'x-door-visitor: owner',
    `x-forwarded-host: ${host}`,
  ])
  expect(lines).toContain('x_own: kept')
})

test('several Cookie lines are one', async () => {
  const { status, got } = await send('GET /a', 'Cookie: a=1\r\nCookie: b=2, 3; c=4\r\n\r\n')
  expect([status, got.head.match(/^cookie: (.*)$/im)?.[1]]).toEqual([200, 'a=1; b=2, 3; c=4'])
  const before = `GET /a HTTP/1.1\r\nHost: ${host}\r\nCookie: a=1\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`
  expect((await sendRaw(Number(port), before)).head).toContain('200 OK')
})

test('a cookie that a page made to look like ours never takes the place of ours', async () => {
  const made = await person.post(`/api/v1/servers/${server.id}/guests`, { hours: 1 })
  const browser = newBrowser()
  await browser.open(made.body.guest.url)
  await browser.open(own)
  const guest = browser.cookie(own)
  const visitor = async (cookies: string) =>
    /x-door-visitor: (\w+)/.exec((await send('GET /a', '\r\n', cookies)).got.head)?.[1] ?? null
  expect([await visitor(guest), await visitor(cookie)]).toEqual(['guest', 'owner'])
  // Browsers keep these for a whole domain, although ours is `__Host-`.
  for (const fake of ['\u00a0', '\u2000', '\ufeff', 'a=b, '].map((before) => before + guest))
    expect([fake, await visitor(`${fake}; ${cookie}`)]).toEqual([fake, 'owner'])
  expect(await visitor(`\u2000${guest}`)).toBe(null)
})

test('cookies that a hostile page set for the whole domain do not pass, and the door ends them', async () => {
  const flood = Array.from({ length: 8 }, (_, i) => `big${i}=${'x'.repeat(3500)}`)
  got.length = 0
  const flooded = await ask(`${own}a/b/c`, { cookie: [...flood, 'own=1', cookie].join('; ') })
  expect([flooded.status, got[0]?.head.match(/^cookie: (.*)$/im)?.[1]]).toEqual([200, 'own=1'])
  const ends = flooded.headers['set-cookie'] ?? []
  for (const path of ['/', '/a', '/a/', '/a/b', '/a/b/', '/a/b/c'])
    for (let i = 0; i < 8; i++) expect(ends).toContain(`big${i}=; Domain=door.localhost; Path=${path}; Max-Age=0`)
  expect(ends.filter((line) => line.startsWith('door='))).toEqual([])
  // Few are a page's own.
  const few = await ask(`${own}a`, { cookie: `a=${'x'.repeat(3500)}; ${cookie}` })
  expect([few.status, few.headers['set-cookie']]).toEqual([200, undefined])
  // On the way in, whatever comes is somebody else's.
  const away = await ask(server.door_url, { accept: 'text/html', cookie: 'tossed=1' })
  expect(away.headers['set-cookie']).toEqual(['tossed=; Domain=door.localhost; Path=/; Max-Age=0'])
  // `=; …` would end no cookie, and `bare=; …` another one.
  const bare = await ask(server.door_url, { accept: 'text/html', cookie: 'bare' })
  expect(bare.headers['set-cookie']).toEqual(['=x; Domain=door.localhost; Path=/; Max-Age=0'])
  const open = new URL(away.headers.location ?? '')
  const ticket = (await person.request('GET', open.pathname + open.search)).headers.get('location') ?? ''
  const entered = await ask(ticket, { accept: 'text/html', cookie: 'tossed=1' })
  expect(entered.headers['set-cookie']?.slice(1)).toContain('tossed=; Domain=door.localhost; Path=/; Max-Age=0')
})

test('cookies count in bytes: a hostile page can write them in letters of three', async () => {
  // As Node's servers refuse them: 19 KB in 6,500 letters.
  const flood = Array.from({ length: 5 }, (_, i) => `big${i}=${'\u98de'.repeat(1300)}`)
  const few = Array.from({ length: 5 }, (_, i) => `few${i}=${'\u98de'.repeat(100)}`)
  const inBytes = (cookies: string[]) => Buffer.from([...cookies, 'own=1', cookie].join('; ')).toString('latin1')
  got.length = 0
  const flooded = await ask(`${own}a`, { cookie: inBytes([...flood, ...few]) })
  expect(got[0]?.head.match(/^cookie: (.{0,9})/im)?.[1]).toBe('own=1')
  for (let i = 0; i < 5; i++)
    expect(flooded.headers['set-cookie']).toContain(`big${i}=; Domain=door.localhost; Path=/; Max-Age=0`)
  expect((await ask(`${own}a`, { cookie: inBytes(few) })).headers['set-cookie']).toBe(undefined)
  const named = await ask(`${own}a`, { cookie: inBytes(flood.map((one) => `\u98de, ${one}`)) })
  const names = named.headers['set-cookie']?.map((one) => Buffer.from(one, 'latin1').toString())
  expect(names).toContain('\u98de, big4=; Domain=door.localhost; Path=/a; Max-Age=0')
})

test('an address of another open port of the machine leads to its host', async () => {
  let sent: Record<string, string> = {}
  await onMachine(machine, 8765, (_, res) => void res.writeHead(201, sent).end())
  const led = async (name: string, value: string) => {
    sent = { [name]: value }
    return (await ask(at(8765), { cookie })).headers[name]
  }
  const here = (path = '/') => at(9090) + path.slice(1)
  for (const name of ['location', 'content-location']) {
    expect(await led(name, `http://${machine}:9090/x?a=b#c`)).toBe(here('/x?a=b#c'))
    expect(await led(name, `//${machine}:9090/x`)).toBe(here('/x'))
    expect(await led(name, `http://${machine}:8765/y`)).toBe(`${at(8765)}y`)
    expect(await led(name, `HTTP://${machine}:5173/y`)).toBe(`${server.door_url}y`)
    for (const other of ['/z', 'z', '/?to=a//b', 'http://127.9.9.9:9090/', '//example.com/'])
      expect(await led(name, other)).toBe(other)
    expect(await led(name, `http://${machine}:22/`)).not.toContain('door')
  }
  expect(await led('refresh', `5; url=http://${machine}:9090/x`)).toBe(`5; url=${here('/x')}`)
  expect(await led('refresh', `0;URL='//${machine}:9090/x'`)).toBe(`0;URL='${here('/x')}'`)
  expect(await led('refresh', '5; url=/x?to=a//b')).toBe('5; url=/x?to=a//b')
  expect(await led('link', `<http://${machine}:9090/a.css>; rel=preload, </b>; rel=next`)).toBe(
    `<${here('/a.css')}>; rel=preload, </b>; rel=next`,
  )
})

test('a preflight from one of the run’s hosts to another passes, and it and its answer carry nothing else', async () => {
  const asked = {
    origin: own.slice(0, -1),
    'access-control-request-method': 'PUT',
    'access-control-request-headers': 'x-a',
    'sec-fetch-site': 'same-site',
    'sec-fetch-mode': 'cors',
    'x-other': 'a',
    cookie: 'stolen=1',
  }
  const preflight = (headers: Record<string, string>, method = 'OPTIONS') => ask(`${own}data`, headers, { method })
  got.length = 0
  const { status, headers } = await preflight(asked)
  expect(status).toBe(200)
  expect(headers).toMatchObject({
    'access-control-allow-origin': '*',
    vary: expect.stringContaining('Origin'),
    allow: 'PUT',
  })
  // Who asks is nobody known.
  for (const name of ['x-secret', 'set-cookie']) expect(headers).not.toHaveProperty(name)
  const lines = (got[0]?.head ?? '').toLowerCase()
  expect(lines).toContain('access-control-request-method: put')
  expect(lines).toContain('x-door-visitor: guest')
  expect(lines).not.toMatch(/^(cookie|x-other):/m)
  got.length = 0
  const bobs = `http://${'z'.repeat(24)}-9090.door.localhost:${port}`
  for (const origin of ['https://evil.example', bobs, 'null', stack.url])
    expect((await preflight({ ...asked, origin })).status).toBe(401)
  const { 'access-control-request-method': _, ...plain } = asked
  expect((await preflight(plain)).status).toBe(401)
  expect((await preflight(asked, 'GET')).status).toBe(401)
  expect(got).toEqual([])
})

test('of two lengths of an answer, the chunks are what counts', async () => {
  const { status, head, body } = await send('GET /chunked')
  expect([status, String(body)]).toEqual([200, expect.stringContaining('hello')])
  expect(head).not.toMatch(/content-length/i)
})

test('an answer with a status that is none is the machine’s fault', async () => {
  const upgrade =
    'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
  for (const rest of ['\r\n', upgrade])
    for (const path of ['/999', '/600']) expect([path, (await send(`GET ${path}`, rest)).status]).toEqual([path, 502])
  const preflight = { origin: own.slice(0, -1), 'access-control-request-method': 'PUT' }
  for (const path of ['999', '600'])
    expect([path, (await ask(own + path, preflight, { method: 'OPTIONS' })).status]).toEqual([path, 502])
})
