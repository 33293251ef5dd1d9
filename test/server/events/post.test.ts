import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { publicPost } from '../../../src/server/events/post.ts'
import { isPublicAddress } from '../../../src/server/events/public-address.ts'

test.each([
  '8.8.8.8',
  '1.1.1.1',
  '172.15.0.1',
  '172.32.0.1',
  '100.128.0.1',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00::1',
])('%s is on the public Internet', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

test.each([
  [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
  ],
  [
    '192.0.0.8',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.0.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
  ],
  ['224.0.0.1', '240.0.0.1', '255.255.255.255', '::', '::1', '::ffff:8.8.8.8', '::ffff:127.0.0.1', '64:ff9b::7f00:1'],
  ['fe80::1', 'fc00::1', 'fd12:3456::1', 'ff02::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', '100::1'],
  ['', 'example.com', '8.8.8', '08.8.8.8', '8.8.8.8 '],
])('none of %s and the like', (...addresses) => {
  expect(addresses.filter(isPublicAddress)).toEqual([])
})

/** A network where each host has these addresses, and every host answers 204. */
function network(dns: Record<string, string[]>, reply: () => Response = () => new Response(null, { status: 204 })) {
  const calls: { url: string; init: RequestInit | undefined }[] = []
  const fetcher = (async (input: string, init?: RequestInit) => {
    const url = new URL(input)
    if (url.hostname !== 'cloudflare-dns.com') {
      calls.push({ url: input, init })
      return reply()
    }
    const [name = '', type] = [url.searchParams.get('name') ?? '', url.searchParams.get('type')]
    if (dns[name] === undefined) throw new Error('DNS is down')
    const wanted = dns[name].filter((address) => address.includes(':') === (type === 'AAAA'))
    const Answer = wanted.map((data) => ({ type: type === 'AAAA' ? 28 : 1, data }))
    return Response.json({ Status: 0, Answer: [{ type: 5, data: 'alias.example.' }, ...Answer] })
  }) as typeof fetch
  return { calls, post: (url: string, local = false) => publicPost(local, fetcher)(url, { 'webhook-id': 'evt' }, '{}') }
}

test('posts to a host whose addresses are all public, and to no other', async () => {
  const { post, calls } = network({
    'good.example.com': ['8.8.8.8', '2606:4700::1111'],
    'bad.example.com': ['10.0.0.1'],
    'half.example.com': ['8.8.8.8', '::1'],
    'rebound.example.com': ['8.8.8.8', '169.254.169.254'],
    'nowhere.example.com': [],
  })
  expect(await post('https://good.example.com/')).toEqual({ taken: true, status: 204, text: '' })
  for (const host of ['bad', 'half', 'rebound'])
    expect(await post(`https://${host}.example.com/`)).toMatchObject({
      taken: false,
      status: null,
      text: expect.stringContaining("isn't on the public Internet"),
    })
  expect(await post('https://nowhere.example.com/')).toMatchObject({ text: 'DNS has no address for this host.' })
  expect(await post('https://unknown.example.com/')).toMatchObject({ text: expect.stringContaining("DNS didn't") })
  expect(calls.map(({ url }) => url)).toEqual(['https://good.example.com/'])
})

test('asks DNS again for each try, so we never call a name that moves inside', async () => {
  const dns = { 'moves.example.com': ['8.8.8.8'] }
  const { post, calls } = network(dns)
  expect(await post('https://moves.example.com/')).toMatchObject({ taken: true })
  dns['moves.example.com'] = ['127.0.0.1']
  expect(await post('https://moves.example.com/')).toMatchObject({ taken: false, status: null })
  expect(calls).toHaveLength(1)
})

test('skips DNS only for this machine, and only where the site itself is local', async () => {
  const { post, calls } = network({})
  expect(await post('http://127.0.0.1:9/', true)).toMatchObject({ taken: true })
  expect(await post('http://127.0.0.1:9/', false)).toMatchObject({ taken: false, status: null })
  expect(await post('http://10.0.0.1/', true)).toMatchObject({ taken: false, status: null })
  expect(calls).toHaveLength(1)
})

const asked: string[] = []
const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`)
  if (request.url === '/moved') return void response.writeHead(307, { location: '/secret' }).end('elsewhere')
  if (request.url === '/endless') {
    response.writeHead(200)
    const send = () => response.destroyed || response.write('x'.repeat(400), () => setImmediate(send))
    return void send()
  }
  if (request.url === '/cut')
    return void response.writeHead(200, { 'content-length': '50' }).write('half', () => request.socket.destroy())
  response.writeHead(500).end('Bad\u0000\u001b[31m news\n<script>')
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
afterAll(() => server.close())
const at = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
const post = (path: string) => publicPost(true)(at(path), {}, '{}')

test('follows no redirect', async () => {
  expect(await post('/moved')).toEqual({
    taken: false,
    status: 307,
    text: "We don't follow redirects. Enter the URL that it points to.",
  })
  expect(asked).not.toContain('POST /secret')
})

test('keeps the beginning of the answer, without control characters, and reads no further', async () => {
  expect(await post('/')).toEqual({ taken: false, status: 500, text: 'Bad[31m news\n<script>' })
  expect(await post('/endless')).toEqual({ taken: true, status: 200, text: 'x'.repeat(500) })
  expect(await post('/cut')).toMatchObject({ taken: true, status: 200 })
})

test('says so when nobody answers, and waits no longer than 10 seconds', async () => {
  const gone = publicPost(true, async () => Promise.reject(new TypeError('fetch failed')))
  expect(await gone(at('/'), {}, '{}')).toMatchObject({
    status: null,
    text: expect.stringContaining("couldn't connect"),
  })
  const limits: number[] = []
  const { timeout } = AbortSignal
  AbortSignal.timeout = (ms) => {
    limits.push(ms)
    return AbortSignal.abort()
  }
  try {
    const hangs = publicPost(true, async (_, init) => Promise.reject(init?.signal?.reason))
    expect(await hangs(at('/'), {}, '{}')).toMatchObject({ status: null, text: 'No answer within 10 seconds.' })
  } finally {
    AbortSignal.timeout = timeout
  }
  expect(limits).toEqual([10_000])
})
