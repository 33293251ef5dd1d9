import { expect, test } from 'vitest'
import { newApiToken } from '../../../src/domain/api-token.ts'
import type { Door } from '../../../src/domain/door.ts'
import { doorUrl, findDoorHost } from '../../../src/domain/door.ts'
import { isForeign, toBrowser, toMachine } from '../../../src/server/door/headers.ts'

const door: Door = { domain: 'door.example', scheme: 'https', port: '', webPorts: [9090], tcpPorts: [41451] }
const label = 'abcdefghij0123456789abcd'
const crossing = { door, label, port: 9090, address: '10.42.1.5:9090', cookie: '__Host-door' }
const there = (headers: Record<string, string>) =>
  Object.fromEntries(toMachine(new Headers(headers), crossing, 'guest'))
const back = (headers: [string, string][]) => toBrowser(new Headers(headers), crossing, 'https://site.example')

test('the machine sees neither our cookie nor our token, and its own cookies', () => {
  const cookie = 'a=1; __Host-door=ours; b=2;__Host-door=again; __Host-door-way=ours'
  const token = newApiToken(() => 7)
  expect(there({ cookie, authorization: `Bearer ${token}` })).toMatchObject({ cookie: 'a=1; b=2' })
  for (const ours of [`bearer  ${token}`, `Bearer ${token} x`, `Bearer a, Bearer:${token}`])
    expect(there({ cookie, authorization: ours })).not.toHaveProperty('authorization')
  expect(there({ cookie: '__Host-door=ours' })).not.toHaveProperty('cookie')
  const comma = 'w=1, x=2; __Host-door=ours; v="a, b=c"'
  expect(there({ cookie: comma })).toMatchObject({ cookie: 'w=1, x=2; v="a, b=c"' })
  expect(there({ cookie: 'a=1, __Host-door=ours, b=2' })).toMatchObject({ cookie: 'a=1; b=2' })
  for (const own of ['Basic abc', 'Bearer pg_own', `Bearer ${token.slice(0, -1)}`])
    expect(there({ authorization: own })).toMatchObject({ authorization: own })
})

test('headers of one connection stay there, and so do those that say who asks', () => {
  const given = {
    connection: 'keep-alive, X-Secret',
    'x-secret': 'a',
    'keep-alive': '1',
    te: 'trailers',
    'transfer-encoding': 'chunked',
    'content-length': '5',
    'proxy-authorization': 'a',
    proxy: 'http://evil.example',
    upgrade: 'h2c',
    host: 'evil.example',
    'cf-connecting-ip': '198.51.100.7',
    'x-forwarded-for': '198.51.100.7',
    'x-forwarded-host': 'evil.example',
    'x-forwarded': 'for=198.51.100.7',
    'client-ip': '198.51.100.7',
    'x-client-ip': '198.51.100.7',
    'x-door-visitor': 'owner',
    'x-door-keep': '{}',
    'x-own': 'kept',
  }
  expect(there(given)).toEqual({
    'x-own': 'kept',
    'x-forwarded-host': `${label}-9090.door.example`,
    'x-forwarded-proto': 'https',
    'x-door-visitor': 'guest',
  })
})

test('its own pages come from the host that it sees, and other pages stay unnamed', () => {
  const own = `https://${label}-9090.door.example`
  expect(there({ origin: own, referer: `${own}/a?ticket=x` })).toMatchObject({
    origin: 'http://10.42.1.5:9090',
    referer: 'http://10.42.1.5:9090/a',
  })
  // code-server and Next.js compare the two.
  expect(there({ origin: own })).not.toHaveProperty('x-forwarded-host')
  const foreign = there({ origin: 'https://evil.example', referer: 'https://evil.example/secret' })
  expect(foreign.origin).toBe('https://evil.example')
  expect(foreign).not.toHaveProperty('referer')
})

test('a page sets cookies for its own host only, and none that could pass for ours', () => {
  const cookies = [
    'a=1; Domain=door.example; Path=/; HttpOnly',
    'b=2; domain=.door.example',
    '__Host-door=evil; Secure; Path=/',
    '__host-door-way=evil; Secure; Path=/',
    '__HOST-DOOR=evil',
    '=__Host-door=evil',
    '__Host-door',
    '__Secure-x=1; Domain=door.example; Secure',
    '__Host-next-auth.csrf-token=2; Path=/; Secure',
  ]
  const headers = back(cookies.map((value) => ['set-cookie', value]))
  expect(headers.getSetCookie()).toEqual([
    'a=1; Path=/; HttpOnly',
    'b=2',
    '__Secure-x=1; Secure',
    '__Host-next-auth.csrf-token=2; Path=/; Secure',
  ])
})

test('no shared cache keeps an answer, and no header reaches beyond this host', () => {
  const headers = back([
    ['cache-control', 'public, max-age=60, s-maxage=600'],
    ['cdn-cache-control', 'max-age=600'],
    ['cloudflare-cdn-cache-control', 'max-age=600'],
    ['alt-svc', 'h3="evil.example:443"'],
    ['clear-site-data', '"cookies"'],
    ['service-worker-allowed', '/'],
    ['strict-transport-security', 'max-age=0'],
    ['connection', 'x-hop'],
    ['x-hop', '1'],
    ['content-security-policy', "default-src 'self'"],
    ['x-own', 'kept'],
  ])
  expect(Object.fromEntries(headers)).toEqual({
    'cache-control': 'private, max-age=60',
    'content-security-policy': `default-src 'self', frame-ancestors https://${label}.door.example https://${label}-9090.door.example https://site.example`,
    'origin-agent-cluster': '?1',
    'strict-transport-security': 'max-age=31536000',
    'x-own': 'kept',
  })
  expect(back([]).get('cache-control')).toBe('private, no-cache')
})

test('a redirect to itself stays at the door, and one elsewhere is only the browser’s to follow', () => {
  const to = (location: string) => back([['location', location]]).get('location')
  expect(to('http://10.42.1.5:9090/login?a=b')).toBe(`https://${label}-9090.door.example/login?a=b`)
  expect(to('/login')).toBe('/login')
  expect(to('http://10.42.1.6:9090/')).toBe('http://10.42.1.6:9090/')
})

test('a machine can’t keep us busy with a long list of links: it stays as it is', () => {
  const links = (count: number) => '<//10.42.1.5:9090/a>,'.repeat(count)
  const led = (link: string) => back([['link', link]]).get('link')
  expect(led(links(390))).not.toContain('10.42.1.5')
  expect(led(links(391))).toBe(links(391))
})

test('pages of other sites and of other runs can’t use a visitor’s access', () => {
  const own = `https://${label}.door.example`
  const other = 'https://zzzzzzzzzz0123456789abcd.door.example'
  const asked = (headers: Record<string, string>, method = 'GET') =>
    isForeign(new Request(own, { method, headers }), door, label, 'https://site.example')
  expect(asked({})).toBe(false)
  expect(asked({ 'sec-fetch-site': 'same-origin' })).toBe(false)
  expect(asked({ origin: own, 'sec-fetch-site': 'same-origin' }, 'POST')).toBe(false)
  expect(asked({ origin: `https://${label}-9090.door.example`, 'sec-fetch-site': 'same-site' })).toBe(false)
  expect(asked({ 'sec-fetch-site': 'same-site', referer: `https://${label}-9090.door.example/` })).toBe(false)
  expect(asked({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).toBe(false)
  for (const origin of [other, 'https://evil.example', 'null', `${own}.evil.example`])
    expect(asked({ origin })).toBe(true)
  for (const site of ['same-site', 'cross-site']) {
    expect(asked({ 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors' })).toBe(true)
    expect(asked({ 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors', referer: `${other}/` })).toBe(true)
    expect(asked({ 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' }, 'POST')).toBe(true)
  }
})

test('only its own pages and the site may load it into a frame, and nobody else ahead of a click', () => {
  const own = `https://${label}.door.example`
  const asked = (headers: Record<string, string>, method = 'GET') =>
    isForeign(
      new Request(own, {
        method,
        headers: { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', ...headers },
      }),
      door,
      label,
      'https://site.example',
    )
  const strangers = [
    'https://zzzzzzzzzz0123456789abcd.door.example/',
    'https://evil.example/',
    'https://site.example.evil/',
  ]
  const ways = [
    ...['iframe', 'frame', 'embed', 'object', 'fencedframe'].map((dest) => ({ 'sec-fetch-dest': dest })),
    { 'sec-fetch-dest': 'document', 'sec-purpose': 'prefetch' },
    { 'sec-fetch-dest': 'document', 'sec-purpose': 'prefetch', 'sec-fetch-site': 'none' },
    { 'sec-fetch-dest': 'document', 'sec-purpose': 'prefetch;prerender' },
  ]
  for (const way of ways) {
    // With `no-referrer`, it comes from nobody.
    expect(asked(way)).toBe(true)
    for (const referer of strangers) expect(asked({ ...way, referer })).toBe(true)
    for (const referer of [`${own}/a`, `https://${label}-9090.door.example/`, 'https://site.example/servers/ses_1'])
      expect(asked({ ...way, referer })).toBe(false)
    expect(asked({ ...way, 'sec-fetch-site': 'same-origin' })).toBe(false)
  }
  for (const referer of strangers) expect(asked({ 'sec-fetch-dest': 'document', referer })).toBe(false)
  // Only the run's own pages may do more than show it.
  expect(asked({ referer: 'https://site.example/' }, 'POST')).toBe(true)
  expect(asked({ referer: 'https://site.example/', 'sec-fetch-mode': 'no-cors' })).toBe(true)
})

test('only a label with or without a port is a host of ours', () => {
  expect(findDoorHost(door, `${label}.door.example`)).toEqual({ label, port: null })
  expect(findDoorHost(door, `${label.toUpperCase()}-9090.DOOR.example:443`)).toEqual({ label, port: 9090 })
  expect(findDoorHost(null, `${label}.door.example`)).toBe(null)
  for (const host of ['door.example', `${label}.door.example.evil.example`, `${label}.evildoor.example`, ''])
    expect(findDoorHost(door, host)).toBe(null)
  const strange = ['short', `x.${label}`, `${label}-0`, `${label}-090`, `${label}-9090-1`, `${label}_9090`, `-${label}`]
  for (const name of strange) expect(findDoorHost(door, `${name}.door.example`)?.label).toBe('')
  expect(doorUrl(door, label, 9090)).toBe(`https://${label}-9090.door.example/`)
})

test.each([
  ['same-origin', false],
  ['same-site', true],
  ['cross-site', true],
  ['none', true],
])('a form of a page that names no origin, sent from %s', (site, foreign) => {
  const request = new Request('https://x.example/', { method: 'POST' })
  const headers = new Headers({ origin: 'null', 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' })
  expect(isForeign({ headers, method: request.method } as Request, door, label, 'https://site.example')).toBe(foreign)
  headers.delete('sec-fetch-site')
  expect(isForeign({ headers, method: 'POST' } as Request, door, label, 'https://site.example')).toBe(true)
})
