import { expect, test } from 'vitest'
import { checkForm } from '../../src/domain/form.ts'
import { isOwnMachine } from '../../src/domain/own-machine.ts'
import { EVENT_TYPES, nextTry, normalUrl, webhookForm, webhookUrlFault } from '../../src/domain/webhook.ts'

const judge = (url: string, local = false) => webhookUrlFault(url, local, ['site.example.com'])

test.each([
  'https://example.com',
  'https://example.com/hooks?key=1',
  'https://hooks.example.com:443/',
  'HTTPS://EXAMPLE.COM./x',
  'https://münchen.example.com/',
  'https://localhost.example.com/',
  'https://notsite.example.com/',
  'https://10.example.com/',
  'https://hooks.example.x1/',
  'https://app.local.example.com/',
])('may call %s', (url) => {
  expect(judge(url)).toBeNull()
})

test.each([
  ['', 'full URL'],
  ['example.com/hooks', 'full URL'],
  ['/hooks', 'full URL'],
  ['http://example.com/', 'https://'],
  ['ftp://example.com/', 'https://'],
  ['javascript:alert(1)', 'https://'],
  ['https://ada@example.com/', 'user name'],
  ['https://:secret@example.com/', 'user name'],
  ['https://example.com:8443/', 'port'],
  ['https://example.com:80/', 'port'],
  ['https://127.0.0.1/', 'IP address'],
  ['https://8.8.8.8/', 'IP address'],
  ['https://169.254.169.254/latest/meta-data', 'IP address'],
  ['https://2130706433/', 'IP address'],
  ['https://0x7f.1/', 'IP address'],
  ['https://0177.0.0.1/', 'IP address'],
  ['https://127.0.0.1./', 'IP address'],
  ['https://127.0.0.1../', 'IP address'],
  ['https://[::1]/', 'IP address'],
  ['https://[::ffff:10.0.0.1]/', 'IP address'],
  ['https://localhost/', 'public'],
  ['https://localhost./', 'public'],
  ['https://localhost../', 'public'],
  ['https://LOCALHOST/', 'public'],
  ['https://app.localhost/', 'public'],
  ['https://intranet/', 'public'],
  ['https://printer.local/', 'public'],
  ['https://printer.local.../', 'public'],
  ['https://metadata.google.internal/', 'public'],
  ['https://1.0.0.127.in-addr.arpa/', 'public'],
  ['https://router.lan/', 'public'],
  ['https://x.corp/', 'public'],
  ['https://x.home/', 'public'],
  ['https://x.intranet/', 'public'],
  ['https://x.onion/', 'public'],
  ['https://site.example.com/', 'this site'],
  ['https://site.example.com./', 'this site'],
  ['https://site.example.com../', 'this site'],
  ['https://api.site.example.com/', 'this site'],
])('never calls %j', (url, why) => {
  expect(judge(url)).toContain(why)
})

test('plain HTTP and any port are for loopback, and only where the site itself is local', () => {
  const own = ['http://localhost:3000/x', 'http://127.0.0.1:9/', 'https://127.8.9.1:9/', 'http://[::1]:9/']
  for (const url of own) {
    expect(judge(url, true), url).toBeNull()
    expect(judge(url, false), url).not.toBeNull()
  }
  for (const url of ['http://10.0.0.1/', 'http://example.com/', 'http://localhost.example.com/', 'http://1127.0.0.1x/'])
    expect(judge(url, true), url).not.toBeNull()
  expect(judge('http://ada@localhost/', true)).toContain('user name')
  expect(isOwnMachine(new URL('ftp://localhost/'))).toBe(false)
})

test('never calls any of our own sites', () => {
  const own = ['one.example.com', 'two.example.com']
  for (const host of own) expect(webhookUrlFault(`https://${host}/`, false, own)).toContain('this site')
})

test('keeps a URL as browsers write it, without a fragment', () => {
  expect(normalUrl('HTTPS://Example.com:443/a b#part')).toBe('https://example.com/a%20b')
})

const form = { url: ' https://example.com ', events: ['bill.closed', 'server.running'], current_password: 'x' }
const faultOf = (changes: object) => {
  const result = checkForm(webhookForm, { ...form, ...changes })
  return result.ok ? null : result.faults[0]
}

test('the form needs a URL, known events, and the password', () => {
  expect(checkForm(webhookForm, form)).toMatchObject({
    ok: true,
    value: { url: 'https://example.com', events: ['server.running', 'bill.closed'] },
  })
  expect(faultOf({ url: '  ' })).toEqual({ field: 'url', message: 'Please enter a URL.' })
  const long = `https://example.com/${'x'.repeat(480)}`
  expect([long.length, faultOf({ url: long })]).toEqual([500, null])
  expect(faultOf({ url: ` ${long} ` })).toBeNull()
  expect(faultOf({ url: `${long}x` })).toEqual({ field: 'url', message: 'The URL cannot exceed 500 characters.' })
  expect(faultOf({ events: [] })).toEqual({ field: 'events', message: 'Choose at least one event.' })
  expect(faultOf({ events: ['server.running', 'x'] })).toEqual({
    field: 'events',
    message: `An event must be one of ${EVENT_TYPES.join(', ')}.`,
  })
  expect(faultOf({ current_password: '' })).toMatchObject({ field: 'current_password' })
})

const MINUTE = 60_000
const HOUR = 60 * MINUTE

test('tries again less and less often for a day, and once more when the day ends', () => {
  const tries = [0]
  for (let at: number | null = 0; at !== null; ) {
    at = nextTry(0, tries.length, at, 0)
    if (at !== null) tries.push(at)
  }
  const waits = tries.slice(1).map((at, i) => at - (tries[i] ?? 0))
  expect(waits.slice(0, 9)).toEqual([
    10_000,
    MINUTE,
    5 * MINUTE,
    20 * MINUTE,
    HOUR,
    2 * HOUR,
    4 * HOUR,
    4 * HOUR,
    4 * HOUR,
  ])
  expect(tries.at(-1)).toBe(24 * HOUR)
  expect(nextTry(0, 3, 24 * HOUR, 0)).toBeNull()
  expect(nextTry(0, 3, 24 * HOUR - 1, 0)).toBe(24 * HOUR)
})

test('waits up to a fifth longer, so that we do not retry together what failed together', () => {
  expect(nextTry(0, 1, 5, 0.5)).toBe(5 + 11_000)
  expect(nextTry(0, 2, 5, 1)).toBe(5 + 72_000)
})
