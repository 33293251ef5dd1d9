import { randomUUID } from 'node:crypto'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { axeFaults } from '../../testing/browser/axe.ts'
import { openBrowser } from '../../testing/browser/chromium.ts'
import { pageOf, untilHydrated } from '../../testing/browser/e2e.ts'
import { Client, confirmationToken, newPerson, PASSWORD } from '../../testing/people/client.ts'

/** Getting into the product, with and without a script: after a session ended, before confirming, with a dead link. */

const REVOKED = 'This device was signed out from another device or by a password change. Please sign in again.'
const url = inject('url')
let browser: Browser

beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.close())

async function signIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('Email', { exact: true }).fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign In' }).click()
}

/** Ends every session of this person from another browser. */
async function endFromElsewhere(email: string): Promise<void> {
  const laptop = new Client(url)
  await laptop.open('/sign_in')
  await laptop.post('/users/sign_in', { user: { email, password: PASSWORD } })
  await laptop.request('DELETE', '/api/v1/users/sign_ins')
}

/** Signed up, but not confirmed. */
async function unconfirmedEmail(): Promise<string> {
  const email = `${randomUUID()}@example.com`
  const client = new Client(url)
  await client.open('/sign_up')
  const passwords = { password: PASSWORD, password_confirmation: PASSWORD }
  await client.post('/users', { user: { name: 'Ada', email, ...passwords, terms_of_service: true } })
  await confirmationToken(url, email)
  return email
}

const confirmationsTo = async (email: string) =>
  ((await (await fetch(`${url}/dev/mailbox.json`)).json()) as { to: string; text: string }[]).filter(
    (mail) => mail.to === email && mail.text.includes('confirmation_token='),
  ).length

const ways: [string, BrowserContextOptions][] = [
  ['with scripts', {}],
  ['without scripts', { javaScriptEnabled: false }],
]

test.each(ways)('%s, an ended session says why, and signing in leads back', async (_, options) => {
  const person = await newPerson(url)
  const page = await pageOf(browser, url, person, options)
  await page.goto(`${url}/account_overview`)
  await endFromElsewhere(person.email)
  await page.locator('aside a, nav a').filter({ hasText: 'Billing' }).first().click()
  await page.waitForURL('**/sign_in')
  await page.getByText(REVOKED).waitFor()
  if (options.javaScriptEnabled !== false) expect(await axeFaults(page)).toEqual([])
  await signIn(page, person.email, 'a wrong password')
  await page.getByText('Invalid email or password.').waitFor()
  await signIn(page, person.email)
  await page.waitForURL('**/billing_history')
  await page.context().close()
})

test('an open dashboard whose session ends leads to the reason, and back', async () => {
  const person = await newPerson(url)
  const page = await pageOf(browser, url, person)
  await page.goto(`${url}/dashboard`)
  await page.getByText('Live', { exact: true }).waitFor()
  await endFromElsewhere(person.email)
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.waitForURL('**/sign_in')
  await page.getByText(REVOKED).waitFor()
  await signIn(page, person.email)
  await page.waitForURL('**/dashboard')
  await page.context().close()
})

test.each(ways)('%s, signing in before confirming offers a new link, filled in', async (_, options) => {
  const email = await unconfirmedEmail()
  const page = await pageOf(browser, url, { cookies: new Map() }, options)
  await page.goto(`${url}/sign_in`)
  await signIn(page, email)
  await page.getByText('You have to confirm your email address before continuing.').waitFor()
  if (options.javaScriptEnabled !== false) expect(await axeFaults(page)).toEqual([])
  expect(await page.getByLabel('Send a new link to').inputValue()).toBe(email)
  expect(await page.getByLabel('Email', { exact: true }).inputValue()).toBe(email)
  await page.getByRole('button', { name: 'Resend confirmation email' }).click()
  await page.getByText('Confirmation email sent. Please check your inbox.').waitFor()
  await expect.poll(() => confirmationsTo(email)).toBe(2)
  expect(page.url()).toBe(`${url}/sign_in`)
  expect(await page.getByText('You have to confirm').count()).toBe(0)
  await page.context().close()
})

test.each(ways)('%s, a dead reset link says so when it is opened, and gets a new one', async (_, options) => {
  const { email } = await newPerson(url)
  const page = await pageOf(browser, url, { cookies: new Map() }, options)
  const links = async () =>
    ((await (await fetch(`${url}/dev/mailbox.json`)).json()) as { to: string; text: string }[])
      .filter((mail) => mail.to === email)
      .flatMap((mail) => /\/reset_password\?reset_password_token=[\w-]+/.exec(mail.text) ?? [])
  await page.goto(`${url}/forgot_password`)
  await page.getByLabel('Email').fill(email)
  await page.getByRole('button', { name: 'Send link' }).click()
  await page.waitForURL('**/sign_in')
  await expect.poll(async () => (await links()).length).toBe(1)
  const [link] = await links()
  await page.goto(url + link)
  await page.getByLabel('New password', { exact: true }).fill('another good one')
  await page.getByLabel('Confirm new password').fill('another good one')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.waitForURL('**/sign_in')

  await page.goto(url + link)
  await page.getByText('Invalid or expired password reset link.').waitFor()
  expect(await page.getByLabel('New password', { exact: true }).count()).toBe(0)
  expect(await page.getByLabel('Email').inputValue()).toBe(email)
  await page.getByRole('button', { name: 'Send link' }).click()
  await page.waitForURL('**/sign_in')
  await expect.poll(async () => (await links()).length).toBe(2)
  await page.context().close()
})

test('a confirmed address has one button', async () => {
  const email = await unconfirmedEmail()
  const page = await pageOf(browser, url, { cookies: new Map() })
  await page.goto(`${url}/confirm_email?confirmation_token=${await confirmationToken(url, email)}`)
  await page.getByText('Your email address is confirmed.').waitFor()
  await untilHydrated(page)
  expect(await page.locator('main .btn').allInnerTexts()).toEqual(['Sign in now'])
  expect(await page.locator('main a').count()).toBe(1)
  await page.getByRole('button', { name: 'Stay here' }).click()
  expect(await page.locator('main .btn').allInnerTexts()).toEqual(['Sign In'])
  await page.context().close()
})
