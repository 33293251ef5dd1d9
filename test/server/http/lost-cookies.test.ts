import { expect, test } from 'vitest'
import { openAccount, PASSWORD, signedInUser } from '../../../testing/people/sign-up.ts'

const TOO_OLD = 'This page was too old, so we changed nothing. Please send it again.'
const BLOCKED =
  'Your browser blocks cookies for this site. Allow them in its settings, reload this page, and try again.'
const TYPED = 'Here is what you typed before you signed in. Please send it again.'

const LETTER = { name: 'Ada', email: 'ada@example.com', source: 'Referral', message: 'Fifty drones & a “rover”' }

test('cleared cookies: a form comes back on its own page, with what was typed and a token that works', async () => {
  const { browser } = openAccount()
  await browser.open('/contact_sales')
  browser.cookies.clear()
  const sent = await browser.form('/api/v1/contact_sales', LETTER)
  expect([sent.status, sent.headers.get('Location')]).toEqual([303, '/contact_sales?cookies'])
  const html = await (await browser.request('/contact_sales?cookies')).text()
  expect(html).toContain(TOO_OLD)
  expect(html).toContain('Fifty drones &amp; a “rover”')
  await browser.open('/contact_sales')
  expect((await browser.form('/api/v1/contact_sales', LETTER)).headers.get('Location')).toBe('/contact_sales')
  expect(await (await browser.request('/contact_sales')).text()).toContain('Thank you for contacting sales!')
})

test.each([
  ['/help', '/api/v1/help', { message: 'Stuck' }],
  ['/sign_up', '/users', { 'user[name]': 'Ada', 'user[email]': 'ada@example.com' }],
  ['/sign_in', '/users/sign_in', { 'user[email]': 'ada@example.com' }],
  ['/forgot_password', '/users/password', { 'user[email]': 'ada@example.com' }],
  ['/confirm_email', '/users/confirmation', { 'user[email]': 'ada@example.com' }],
])('%s comes back as well, and says so if cookies are blocked', async (page, action, typed) => {
  const { browser } = openAccount()
  await browser.open(page)
  browser.cookies.clear()
  const sent = await browser.form(action, { ...typed, 'user[password]': 'secret!' })
  expect(sent.headers.get('Location')).toBe(`${page}?cookies`)
  const kept = new Map(browser.cookies)
  const { flash } = await browser.open(`${page}?cookies`)
  expect(flash).toMatchObject({ message: TOO_OLD })
  for (const [name, value] of Object.entries(flash?.values ?? {}))
    expect({ ...typed, name: value }).toHaveProperty([name])
  expect(JSON.stringify(flash)).not.toContain('secret!')
  expect(kept.size).toBeGreaterThan(0)

  browser.cookies.clear()
  expect(await (await browser.request(`${page}?cookies`)).text()).toContain(BLOCKED)
  browser.cookies.clear()
  const bookmark = await browser.request(`${page}?cookies`, { headers: { 'Sec-Fetch-Site': 'none' } })
  expect(await bookmark.text()).not.toContain(BLOCKED)
})

test('a link in an email works on after cookies were cleared, or blocked: its key is in the address', async () => {
  const { browser } = openAccount()
  await browser.open('/sign_in')
  browser.cookies.clear()
  const reset = await browser.form('/users/password', { _method: 'put', 'user[reset_password_token]': 'a b' })
  expect(reset.headers.get('Location')).toBe('/reset_password?reset_password_token=a+b&cookies')
  const extended = await browser.form('/servers/srv_x/extend', { key: 'k' })
  expect(extended.headers.get('Location')).toBe('/servers/srv_x/extend?key=k&cookies')
})

test('cleared cookies on a page of an account: sign in, and what was typed is there again', async () => {
  const { account, browser } = openAccount()
  const { email } = await signedInUser(browser, account)
  await browser.open('/settings/billing')
  browser.cookies.clear()
  const sent = await browser.form('/api/v1/billings/budget', { about: 'budget', dollars: '25' })
  expect([sent.status, sent.headers.get('Location')]).toEqual([303, '/sign_in'])
  expect((await browser.open('/sign_in')).flash?.message).toBe('Please sign in first.')
  const signedIn = await browser.form('/users/sign_in', { 'user[email]': email, 'user[password]': PASSWORD })
  expect(signedIn.headers.get('Location')).toBe('/settings/billing#budget')
  const html = await (await browser.request('/settings/billing')).text()
  expect(html).toContain(TYPED)
  expect(html).toMatch(/name="dollars"[^>]*value="25"|value="25"[^>]*name="dollars"/)
})

test("someone else who signs in then doesn't see it", async () => {
  const { account, browser } = openAccount()
  const bob = await signedInUser(browser, account)
  browser.cookies.clear()
  await signedInUser(browser, account)
  await browser.open('/settings/billing')
  browser.cookies.clear()
  await browser.form('/api/v1/billings/budget', { about: 'budget', dollars: '25' })
  await browser.open('/sign_in')
  const signedIn = await browser.form('/users/sign_in', { 'user[email]': bob.email, 'user[password]': PASSWORD })
  expect(signedIn.headers.get('Location')).toBe('/dashboard')
  expect(await (await browser.request('/settings/billing')).text()).not.toContain(TYPED)
})

test('too much text for a cookie: the page comes back without it', async () => {
  const { account, browser } = openAccount()
  const { email } = await signedInUser(browser, account)
  await browser.open('/settings/billing')
  browser.cookies.clear()
  await browser.form('/api/v1/billings/budget', { dollars: '25', more: 'x'.repeat(20_000) })
  expect(browser.cookies.get('back')?.length).toBeLessThan(3_800)
  await browser.open('/sign_in')
  const signedIn = await browser.form('/users/sign_in', { 'user[email]': email, 'user[password]': PASSWORD })
  expect(signedIn.headers.get('Location')).toBe('/settings/billing#budget')
})

test('a program gets its refusal as JSON', async () => {
  const { browser } = openAccount()
  const refused = await browser.request('/api/v1/contact_sales', {
    method: 'POST',
    headers: { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'name=Ada',
  })
  expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'csrf', error: 'Invalid CSRF token.' }])
})
