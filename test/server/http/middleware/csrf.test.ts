import { describe, expect, test } from 'vitest'
import { app, routes } from '../../../../src/server/app.ts'
import { issueToken, newBrowserId } from '../../../../src/server/http/csrf-token.ts'
import { ownDatabase } from '../../../../testing/stack/own-database.ts'
import { openPage, openSite, SITE } from '../../../../testing/stack/site.ts'

const site = await openSite({}, await ownDatabase())
const [mine, other] = [await openPage(site), await openPage(site)]
const CHANGES = [
  ...new Set(app.routes.filter(({ method }) => !['ALL', 'GET'].includes(method)).map((r) => `${r.method} ${r.path}`)),
].filter((route) => route in routes.facts && !/webhooks.stripe|oauth|mails.off|^POST .machines/.test(route))
const FROM_PROGRAMS = [
  'POST /oauth/device_authorization',
  'POST /oauth/token',
  'POST /mails/off',
  'POST /machines/credentials',
  'POST /machines/key',
  'POST /machines/files',
]
const NEED_TOKEN =
  /sign_in|sign_out|api_tokens|activate|[/]webhooks|POST [/](secrets|registries|account_security)|^(PUT|DELETE) (?!.*v1.(servers|environments|files|line))|^POST \/admin\//
/** Now and then an answer leaves work behind. */
const EXECUTION = { waitUntil() {}, passThroughOnException() {}, props: {} }
const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'

const SOURCES: [name: string, headers: Record<string, string>, own: boolean][] = [
  ['our own page', { 'Sec-Fetch-Site': 'same-origin', Origin: SITE }, true],
  ['our own page, an old browser', { Origin: SITE }, true],
  ['our own page with Origin: null', { 'Sec-Fetch-Site': 'same-origin', Origin: 'null' }, true],
  ['another site', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }, false],
  ['another site that claims our origin', { 'Sec-Fetch-Site': 'cross-site', Origin: SITE }, false],
  ['a sister site', { 'Sec-Fetch-Site': 'same-site', Origin: 'http://app.localhost:8787' }, false],
  ['the address bar', { 'Sec-Fetch-Site': 'none' }, false],
  ['another site, an old browser', { Origin: 'https://evil.example' }, false],
  ['another port', { Origin: 'http://localhost:8788' }, false],
  ['another scheme', { Origin: 'https://localhost:8787' }, false],
  ['a sandbox', { Origin: 'null' }, false],
  ['a program that says nothing', {}, false],
]

const CONTENTS: [name: string, type: string | null, body: string, ok: boolean][] = [
  ['JSON', JSON_TYPE, '{}', true],
  ['JSON with a charset', `${JSON_TYPE}; charset=utf-8`, '{}', true],
  ['nothing', null, '', true],
  ['plain text', 'text/plain', '{}', false],
  ['plain text that ends in JSON', 'text/plain; application/json', '{}', false],
  ['multipart', 'multipart/form-data; boundary=x', '--x--', false],
  ['no type', '', '{}', false],
]

async function send(route: string, headers: Record<string, string>, type: string | null, body: string) {
  const [method = '', path = ''] = route.split(' ')
  const request = new Request(`${SITE}${path.replace(':id', 'in_x')}`, {
    method,
    ...(body === '' ? {} : { body: new TextEncoder().encode(body) }),
    headers: { ...headers, ...(type ? { 'Content-Type': type } : {}) },
  })
  const response = await app.fetch(request, site.env, EXECUTION)
  const refused = response.status === 403 && (await response.text()).includes('Invalid CSRF token.')
  return refused ? 'refused' : 'passed'
}

describe.each(CHANGES)('%s', (route) => {
  test.each(SOURCES)('from %s', async (_, headers, own) => {
    // Nobody but people who are signed in may send a file's form.
    const signedIn = route === 'POST /files' ? `; ${(await site.signInAs('user')).cookie}` : ''
    const withToken = { ...headers, 'X-CSRF-Token': mine.token, Cookie: `${mine.cookie}${signedIn}` }
    for (const [name, type, body, ok] of CONTENTS)
      expect(await send(route, withToken, type, body), name).toBe(own && ok ? 'passed' : 'refused')
    const form = new URLSearchParams({ authenticity_token: mine.token }).toString()
    expect(await send(route, withToken, FORM_TYPE, form), 'a form').toBe(own ? 'passed' : 'refused')
  })

  test('with and without tokens', async () => {
    const own = { 'Sec-Fetch-Site': 'same-origin' }
    const wanted = NEED_TOKEN.test(route) ? 'refused' : 'passed'
    const foreignKey = issueToken('another-secret-of-thirty-two-characters!', newBrowserId(), null)
    const flipped = mine.token.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))
    for (const token of ['', 'x', other.token, foreignKey, flipped, mine.token.slice(0, 43)]) {
      const headers = { ...own, Cookie: mine.cookie, ...(token ? { 'X-CSRF-Token': token } : {}) }
      expect(await send(route, headers, JSON_TYPE, '{}'), `header ${token}`).toBe(wanted)
      const form = new URLSearchParams({ authenticity_token: token }).toString()
      expect(await send(route, headers, FORM_TYPE, form), `field ${token}`).toBe(
        route === 'POST /theme' ? 'passed' : 'refused',
      )
    }
    expect(await send(route, { ...own, 'X-CSRF-Token': mine.token }, JSON_TYPE, '{}'), 'no cookie').toBe(wanted)
  })
})

test.each(FROM_PROGRAMS)('%s comes from programs, and from no other site', async (route) => {
  for (const [name, headers, own] of SOURCES)
    expect(await send(route, headers, FORM_TYPE, 'client_id=x'), name).toBe(
      own || name === 'a program that says nothing' ? 'passed' : 'refused',
    )
})

test('the token differs each time, and each one is valid', async () => {
  const again = await site.request('/confirm_email', { headers: { Cookie: mine.cookie } })
  const second = /name="csrf-token" content="([^"]+)"/.exec(await again.text())?.[1] ?? ''
  expect(second).not.toBe(mine.token)
  const own = { 'Sec-Fetch-Site': 'same-origin', Cookie: mine.cookie }
  for (const token of [mine.token, second])
    expect(await send('POST /users/sign_in', { ...own, 'X-CSRF-Token': token }, JSON_TYPE, '{}')).toBe('passed')
})

test('no answer opens the site to another origin', async () => {
  for (const method of ['GET', 'OPTIONS', 'POST']) {
    const headers = { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' }
    const response = await site.request('/users/sign_in', { method, headers })
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  }
})
