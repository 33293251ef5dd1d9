import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openAccount, signedInUser } from '../../../../testing/people/sign-up.ts'

const username = /<input type="email" (?=[^>]*name="account")(?=[^>]*hidden)[^>]*value="([^"]+)"/

test.each(['/close_account', '/settings/developers'])(
  '%s names the person whose password it asks for',
  async (path) => {
    const { account, browser } = openAccount()
    const { email } = await signedInUser(browser, account)
    const html = await (await browser.request(path)).text()
    expect(html).toContain('autoComplete="current-password"')
    expect(username.exec(html)?.[1]).toBe(email)
  },
)

const fieldsIn = (html: string) => html.match(/<input\b[^>]*\bname="[^"]*password[^"]*"[^>]*>/g) ?? []

function expectHidden(fields: string[]): void {
  for (const field of fields) {
    expect(field).toContain('type="password"')
    expect(field).toMatch(/autoComplete="(current|new)-password"/)
  }
}

test('nothing listens for a paste', () => {
  const files = globSync('src/**/*.{ts,tsx}')
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter((file) => /\bonpaste|['"](paste|beforeinput)['"]/i.test(readFileSync(file, 'utf8')))).toEqual([])
})

test('each field of a password hides it, and says what it is', async () => {
  const { account, browser } = openAccount()
  const fieldsOf = async (path: string) => fieldsIn(await (await browser.request(path)).text())
  const guest = [...(await fieldsOf('/sign_up')), ...(await fieldsOf('/sign_in'))]
  await signedInUser(browser, account)
  const pages = ['/account_overview', '/close_account', '/settings/developers', '/account_security']
  const own = (await Promise.all(pages.map(fieldsOf))).flat()
  expect([guest.length, own.length]).toEqual([3, 10])
  expectHidden([...guest, ...own])
})

test('so does the page of a reset, and a refusal keeps it', async () => {
  const { account, browser, sent, settle } = openAccount()
  const { email } = await signedInUser(browser, account)
  await browser.json('POST', '/users/password', { user: { email } })
  await settle()
  const link = /\/reset_password\?\S+/.exec(sent.at(-1)?.text ?? '')?.[0] ?? ''
  const html = await (await browser.request(link)).text()
  expect(username.exec(html)?.[1]).toBe(email)
  const fields = fieldsIn(html).filter((field) => !field.includes('type="hidden"'))
  expect(fields).toHaveLength(2)
  expectHidden(fields)
  await browser.open(link)
  const refused = await browser.form('/users/password', {
    _method: 'put',
    account: email,
    'user[reset_password_token]': new URLSearchParams(link.split('?')[1]).get('reset_password_token') ?? '',
    'user[password]': 'short',
  })
  const again = await (await browser.request(refused.headers.get('Location') ?? '')).text()
  expect(username.exec(again)?.[1]).toBe(email)
})
