import { createHmac } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../db/schema/accounts.ts'
import { deriveKeys } from '../../../src/server/crypto/keys.ts'
import { openAppBrowser } from '../../../testing/people/app-browser.ts'
import { openAccount, PASSWORD, signedInUser } from '../../../testing/people/sign-up.ts'

const HOUR_MS = 3_600_000
const IDLE = 'You were signed out after 24 hours without activity. Please sign in again.'
const REVOKED =
  'This device was signed out from another device, or by a new password or second factor. Please sign in again.'

/** Someone signed in, and how they sign in again on their own or another browser. */
async function someone() {
  const opened = openAccount()
  const { account, browser, app } = opened
  const person = await signedInUser(browser, account)
  async function signIn(on = browser, email = person.email): Promise<string> {
    const response = await on.json('POST', '/users/sign_in', { user: { email, password: PASSWORD } })
    return ((await response.json()) as { page: string }).page
  }
  return { ...opened, ...person, signIn, another: () => openAppBrowser(app) }
}

test('an idle session says so on the sign-in page, which leads back to where the person was', async () => {
  const { browser, clock, signIn } = await someone()
  clock.ms += 25 * HOUR_MS
  expect(await browser.open('/billing_history?month=2026-01')).toMatchObject({ status: 302, location: '/sign_in' })
  expect((await browser.open('/sign_in')).flash).toMatchObject({ kind: 'info', message: IDLE })
  clock.ms += 10 * 60_000
  expect(await signIn()).toBe('/billing_history?month=2026-01')
  // Only once.
  expect(await signIn()).toBe('/dashboard')
})

test("an open page's polling doesn't use up the reason", async () => {
  const { browser, clock } = await someone()
  clock.ms += 25 * HOUR_MS
  expect((await browser.request('/api/v1/servers/get_servers')).status).toBe(401)
  expect((await browser.open('/dashboard')).location).toBe('/sign_in')
  expect((await browser.open('/sign_in')).flash).toMatchObject({ message: IDLE })
})

test.each([
  ['a page', '/dashboard', {}],
  ['a public page', '/pricing', {}],
  ['a form', '/users', { method: 'POST', body: new URLSearchParams({ _method: 'put', 'user[name]': 'Ada' }) }],
])("%s that was on its way with the ended session's cookie leaves the new one", async (_, path, init) => {
  const { app, browser, clock, signIn } = await someone()
  const ended = browser.cookies.get('sign_in')
  clock.ms += 25 * HOUR_MS
  await browser.open('/sign_in')
  await signIn()
  const headers = { Cookie: `sign_in=${ended}`, Accept: 'text/html', 'Sec-Fetch-Site': 'same-origin' }
  const late = await app.request(path, { ...init, headers })
  expect(late.headers.getSetCookie().filter((line) => line.startsWith('sign_in='))).toEqual([])
})

test('what was on its way says nothing about the ended session once the person is signed in again', async () => {
  const { browser, clock, signIn } = await someone()
  clock.ms += 25 * HOUR_MS
  const ended = browser.cookies.get('sign_in') ?? ''
  await browser.open('/sign_in')
  await signIn()
  const next = browser.cookies.get('sign_in') ?? ''
  browser.cookies.set('sign_in', ended)
  expect((await browser.open('/devices')).location).toBe('/sign_in')
  browser.cookies.set('sign_in', next)
  expect((await browser.open('/sign_in')).location).toBe('/dashboard')
  expect(await (await browser.request('/dashboard')).text()).not.toContain(IDLE)
  expect(browser.cookies.has('flash')).toBe(false)
})

test("a prefetch doesn't use it up either: the browser has to ask again", async () => {
  const { browser, clock } = await someone()
  clock.ms += 25 * HOUR_MS
  const ahead = await browser.request('/devices', { headers: { 'Sec-Purpose': 'prefetch' } })
  expect([ahead.status, ahead.headers.getSetCookie()]).toEqual([503, []])
  await browser.open('/devices')
  expect((await browser.open('/sign_in')).flash).toMatchObject({ message: IDLE })
})

test('a session that was ended from elsewhere says so', async () => {
  const { browser, another, signIn } = await someone()
  const laptop = another()
  await laptop.open('/sign_in')
  await signIn(laptop)
  await laptop.json('DELETE', '/api/v1/users/sign_ins')
  await browser.open('/devices')
  expect((await browser.open('/sign_in')).flash).toMatchObject({ kind: 'info', message: REVOKED })
  expect(await signIn()).toBe('/devices')
})

test('a plain form of an ended session says why, and signing in leads back to its page', async () => {
  const { browser, clock, email } = await someone()
  await browser.open('/account_overview')
  clock.ms += 25 * HOUR_MS
  const refused = await browser.form('/users', { _method: 'put', 'user[name]': 'Grace' })
  expect([refused.status, refused.headers.get('Location')]).toEqual([303, '/sign_in'])
  expect((await browser.open('/sign_in')).flash).toMatchObject({ message: IDLE })
  const wrong = await browser.form('/users/sign_in', { 'user[email]': email, 'user[password]': 'wrong' })
  expect(wrong.headers.get('Location')).toBe('/sign_in')
  const right = await browser.form('/users/sign_in', { 'user[email]': email, 'user[password]': PASSWORD })
  expect([right.status, right.headers.get('Location')]).toEqual([303, '/account_overview'])
})

test('a visitor gets to the page they requested, without a message', async () => {
  const { another, signIn } = await someone()
  const browser = another()
  expect((await browser.open('/devices')).location).toBe('/sign_in')
  expect((await browser.open('/sign_in')).flash).toBeNull()
  expect(await signIn(browser)).toBe('/devices')
})

test('leads only to screens that the person may see', async () => {
  const { browser, another, signIn, clock, id, ctx } = await someone()
  for (const path of ['/dashboard', '/billing_history.csv', '/pricing', '/no/such/page', '/api/v1/users/export']) {
    const visitor = another()
    await visitor.request(path)
    await visitor.open('/sign_in')
    expect(await signIn(visitor), path).toBe('/dashboard')
  }
  const stranger = another()
  expect((await stranger.open('/console')).location).toBe('/dashboard')
  expect((await stranger.open('/dashboard')).location).toBe('/sign_in')
  await stranger.open('/sign_in')
  expect(await signIn(stranger)).toBe('/dashboard')

  await ctx.db.update(users).set({ admin: true }).where(eq(users.id, id))
  clock.ms += 25 * HOUR_MS
  await browser.open('/console?q=g6')
  await browser.open('/dashboard')
  await browser.open('/sign_in')
  expect(await signIn()).toBe('/console?q=g6')
})

test('tells customers that the console is for admins', async () => {
  const { browser } = await someone()
  expect((await browser.open('/console')).location).toBe('/dashboard')
  expect((await browser.open('/dashboard')).flash).toMatchObject({ message: 'Only admins can open the console.' })
})

test("doesn't lead anyone to where the previous person was", async () => {
  const { account, browser, another, clock, signIn } = await someone()
  const other = await signedInUser(another(), account)
  clock.ms += 25 * HOUR_MS
  await browser.open('/billing_history/bill_1')
  await browser.open('/sign_in')
  expect(await signIn(browser, other.email)).toBe('/dashboard')
})

test('forgets the way back after half an hour', async () => {
  const { another, clock, signIn } = await someone()
  const browser = another()
  await browser.open('/devices')
  await browser.open('/sign_in')
  clock.ms += HOUR_MS / 2
  expect(await signIn(browser)).toBe('/dashboard')
})

test('follows only a way back that we signed, for this purpose, and never to another site', async () => {
  const { another, signIn, ctx } = await someone()
  async function leadsTo(path: string, purpose: 'back' | 'flash' | 'none'): Promise<string> {
    const browser = another()
    await browser.open('/sign_in')
    const payload = Buffer.from(JSON.stringify({ path, userId: null, expires: ctx.now() + 60_000 })).toString(
      'base64url',
    )
    const key = purpose === 'none' ? new Uint8Array(32) : deriveKeys(ctx.config.secretKey, purpose)[0].key
    browser.cookies.set('back', `${payload}.${createHmac('sha256', key).update(payload).digest('base64url')}`)
    return signIn(browser)
  }
  expect(await leadsTo('/devices', 'back')).toBe('/devices')
  expect(await leadsTo('/devices', 'flash')).toBe('/dashboard')
  expect(await leadsTo('/devices', 'none')).toBe('/dashboard')
  for (const path of [
    'https://evil.example/devices',
    '//evil.example/devices',
    '/\\evil.example/devices',
    'javascript:alert(1)',
    '/devices/../../evil',
    '/console',
    '/billing_history.csv',
    '/api/v1/users/export',
  ])
    expect(await leadsTo(path, 'back'), path).toBe('/dashboard')
})
