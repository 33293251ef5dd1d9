import { describe, expect, test } from 'vitest'
import { routes } from '../../../src/server/app.ts'
import { issueToken } from '../../../src/server/http/csrf-token.ts'
import { openPage, openSite } from '../../../testing/stack/site.ts'

const site = await openSite()
const cookieOf = (line: string, name: string) => line.split('; ').find((one) => one.startsWith(`${name}=`)) ?? ''
const [ada, bob] = [await site.signInAs('user'), await site.signInAs('admin')]
const guestPage = await openPage(site)
const browser = cookieOf(guestPage.cookie, 'browser')
/** All in one browser: it shows nobody, then Ada, then Bob. */
const tokenFor = async (cookie: string) => (await openPage(site, [browser, cookie].filter(Boolean).join('; '))).token
const adas = await tokenFor(ada.cookie)
const asBob = `${browser}; ${bob.cookie}`

const CHANGES = Object.entries(routes.facts).flatMap(([route, facts]) => {
  const isOurs = !('fromPrograms' in facts) && !('signedBySender' in facts) && route !== 'POST /theme'
  return isOurs && !route.startsWith('GET ') ? [[route, facts] as const] : []
})
const FOR_ANYONE = [
  'POST /servers/:id/extend',
  'POST /servers/:id/stop',
  'POST /users',
  'POST /users/confirmation',
  'POST /users/password',
  'PUT /users/password',
  'POST /users/sign_in',
  'POST /users/sign_in/second_factor',
  'POST /users/sign_in/passkey/options',
  'POST /users/sign_in/passkey',
]

async function send(route: string, token: string | null, { cookie = asBob, asForm = false } = {}) {
  const [method = '', path = ''] = route.split(' ')
  const fields = { authenticity_token: token ?? '', 'user[email]': 'typed@example.com' }
  const response = await site.request(path.replace(/:\w+/g, 'x'), {
    method: asForm ? 'POST' : method,
    headers: {
      'Sec-Fetch-Site': 'same-origin',
      Cookie: cookie,
      ...(asForm
        ? { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'text/html' }
        : { 'Content-Type': 'application/json', ...(token === null ? {} : { 'X-CSRF-Token': token }) }),
    },
    body: asForm
      ? new URLSearchParams({ ...fields, ...(method === 'POST' ? {} : { _method: method.toLowerCase() }) }).toString()
      : '{}',
  })
  const text = await response.text()
  const json = response.headers.get('Content-Type')?.includes('json') ? JSON.parse(text) : {}
  const flash = /(?:^|, )flash=([^.;]+)/.exec(response.headers.getSetCookie().join(', '))?.[1] ?? ''
  return {
    status: response.status,
    json: json as { code?: string; error?: string; page?: string },
    location: response.headers.get('Location'),
    said: flash ? JSON.parse(Buffer.from(flash, 'base64url').toString()) : null,
  }
}

const isOther = ({ status, json }: Awaited<ReturnType<typeof send>>) => status === 409 && json.code === 'other_person'
const NOW_BOB = "You're now signed in as admin in this browser. The page was for someone else, so we changed nothing."

describe.each(CHANGES.map(([route]) => route))('%s', (route) => {
  test("isn't acted on for Bob by a page that shows Ada", async () => {
    const refused = await send(route, adas)
    expect(refused.json).toMatchObject({ code: 'other_person', error: NOW_BOB, page: expect.stringMatching(/^\//) })
    expect(refused.status).toBe(409)
    const form = await send(route, adas, { asForm: true })
    expect([form.status, form.said?.message]).toEqual([303, NOW_BOB])
    // What Ada typed isn't Bob's to send.
    expect(form.said?.values ?? {}).toEqual({})
  })

  test("takes the page of the person who is signed in, and a visitor's only where nobody acts", async () => {
    // Some of these end the sign-in.
    const grace = await site.signInAs('admin')
    const own = issueToken(site.env.SECRET_KEY, browser.slice('browser='.length), grace.userId)
    expect(isOther(await send(route, own, { cookie: `${browser}; ${grace.cookie}` }))).toBe(false)
    expect(isOther(await send(route, guestPage.token))).toBe(!FOR_ANYONE.includes(route))
  })
})

test('a page whose token is not of this browser acts for nobody', async () => {
  const other = await openPage(site, bob.cookie)
  for (const token of [other.token, 'x', `${guestPage.token}${bob.userId}`, adas.slice(0, 86)])
    expect((await send('POST /api/v1/billings/budget', token)).json.code, token).toBe('other_person')
  expect((await send('POST /users/sign_in', other.token)).json.code).toBe('csrf')
})

test('without a token, the origin decides, as for programs that use a cookie', async () => {
  expect(isOther(await send('POST /api/v1/billings/budget', null))).toBe(false)
})

test("once signed out, Ada's page may sign in again, and must sign in for the rest", async () => {
  expect(isOther(await send('POST /users/sign_in', adas, { cookie: browser }))).toBe(false)
  expect(await send('POST /api/v1/billings/budget', adas, { cookie: browser })).toMatchObject({ status: 401 })
  expect((await send('POST /api/v1/help', adas, { cookie: browser })).json.error).toMatch(/signed out in this browser/)
})

test('what polls answers with the person', async () => {
  const polled = Object.entries(routes.facts).filter(([, facts]) => facts.access === 'user' && 'byItself' in facts)
  for (const [route] of polled.filter(([one]) => one.startsWith('GET '))) {
    const path = route.slice('GET '.length).replace(/:\w+/g, 'x')
    const reply = await site.request(path, { headers: { Cookie: asBob } })
    expect(reply.headers.get('X-Person'), path).toBe(bob.userId)
  }
  expect((await site.request('/dashboard')).headers.get('X-Person')).toBeNull()
})

test('what any cache may keep names nobody', async () => {
  const { headers } = await site.request('/robots.txt', { headers: { Cookie: asBob } })
  expect([headers.get('Cache-Control'), headers.get('X-Person')]).toEqual(['public, max-age=86400', null])
})

test('the token that a sign-in answers with is for who signed in, and a sign-out’s for nobody', async () => {
  const out = await site.request('/users/sign_out', {
    method: 'DELETE',
    headers: { 'Sec-Fetch-Site': 'same-origin', Cookie: `${browser}; ${ada.cookie}`, 'X-CSRF-Token': adas },
  })
  const token = out.headers.get('X-CSRF-Token')
  expect(token).toMatch(/^[\w-]{86}$/)
  expect((await send('POST /users/sign_in', token, { cookie: browser })).json.code).not.toMatch(/csrf|other_person/)
})
