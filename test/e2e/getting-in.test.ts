import type { Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { axeFaults } from '../../testing/browser/axe.ts'
import { ownBrowser, pageOf, SCRIPT_OR_NOT, untilHydrated } from '../../testing/browser/e2e.ts'
import {
  Client,
  confirmationToken,
  mailedTo,
  newPerson,
  newUnconfirmed,
  PASSWORD,
} from '../../testing/people/client.ts'

/** Getting into the product, with and without a script: after a session ended, before confirming, with a dead link. */

const REVOKED =
  'This device was signed out from another device, or by a new password or second factor. Please sign in again.'
const url = inject('url')
const browser = await ownBrowser()

async function signIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('Email', { exact: true }).fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign In', exact: true }).click()
}

/** Ends every session of this person from another browser. */
async function endFromElsewhere(email: string): Promise<void> {
  const laptop = new Client(url)
  await laptop.signIn(email, PASSWORD)
  await laptop.request('DELETE', '/api/v1/users/sign_ins')
}

test.each(SCRIPT_OR_NOT)('%s, an ended session says why, and signing in leads back', async (_, options) => {
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

test.each(SCRIPT_OR_NOT)('%s, signing in before confirming offers a new link, filled in', async (_, options) => {
  const { email } = await newUnconfirmed(url)
  await confirmationToken(url, email)
  const page = await browser.newPage(options)
  await page.goto(`${url}/sign_in`)
  await signIn(page, email)
  await page.getByText('You have to confirm your email address before continuing.').waitFor()
  if (options.javaScriptEnabled !== false) expect(await axeFaults(page)).toEqual([])
  expect(await page.getByLabel('Send a new link to').inputValue()).toBe(email)
  expect(await page.getByLabel('Email', { exact: true }).inputValue()).toBe(email)
  await page.getByRole('button', { name: 'Resend confirmation email' }).click()
  await page.getByText('Confirmation email sent. Please check your inbox.').waitFor()
  await expect.poll(() => mailedTo(url, email, /confirmation_token=/)).toHaveLength(2)
  expect(page.url()).toBe(`${url}/sign_in`)
  expect(await page.getByText('You have to confirm').count()).toBe(0)
  await page.context().close()
})

test.each(SCRIPT_OR_NOT)('%s, a dead reset link says so when it is opened, and gets a new one', async (_, options) => {
  const { email } = await newPerson(url)
  const page = await browser.newPage(options)
  const links = () => mailedTo(url, email, /\/reset_password\?reset_password_token=[\w-]+/)
  await page.goto(`${url}/forgot_password`)
  await page.getByLabel('Email').fill(email)
  await page.getByRole('button', { name: 'Send link' }).click()
  await page.waitForURL('**/sign_in')
  await expect.poll(links).toHaveLength(1)
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
  await expect.poll(links).toHaveLength(2)
  await page.context().close()
})

test('a confirmed address has one button', async () => {
  const { email } = await newUnconfirmed(url)
  const page = await browser.newPage()
  await page.goto(`${url}/confirm_email?confirmation_token=${await confirmationToken(url, email)}`)
  await page.getByText('Your email address is confirmed.').waitFor()
  await untilHydrated(page)
  expect(await page.locator('main .btn').allInnerTexts()).toEqual(['Sign in now'])
  expect(await page.locator('main a').count()).toBe(1)
  await page.getByRole('button', { name: 'Stay here' }).click()
  expect(await page.locator('main .btn').allInnerTexts()).toEqual(['Sign In'])
  await page.context().close()
})

test.each(SCRIPT_OR_NOT)('%s, confirming leads to the sign-in page, with the address filled in', async (_, options) => {
  const { email } = await newUnconfirmed(url)
  const page = await browser.newPage(options)
  await page.goto(`${url}/confirm_email?confirmation_token=${await confirmationToken(url, email)}`)
  if (options.javaScriptEnabled !== false) await page.getByRole('link', { name: 'Sign in now' }).click()
  await page.waitForURL('**/sign_in')
  await page.getByText('Your email address is confirmed. You can sign in now.').waitFor()
  expect(await page.getByLabel('Email', { exact: true }).inputValue()).toBe(email)
  await page.context().close()
})

test('a session that ends in the middle of a form leads to the sign-in page, and back with what was typed', async () => {
  const person = await newPerson(url)
  const page = await pageOf(browser, url, person)
  for (const [path, field, button, text] of [
    ['/dashboard', 'textarea[name=parameters]', 'Start Server', 'SCENARIO=fog'],
    ['/account_overview', 'textarea[name=message]', 'Send feedback', 'More wind'],
    ['/account_overview', '#name', 'Save changes', 'Ada of Bath'],
  ] as const) {
    await page.goto(url + path)
    await untilHydrated(page)
    for (const fold of await page.locator('details:has(textarea)').all())
      await fold.evaluate((details: HTMLDetailsElement) => details.setAttribute('open', ''))
    await page.locator(field).fill(text)
    await endFromElsewhere(person.email)
    await page.getByRole('button', { name: button }).first().click()
    await page.getByText(REVOKED).waitFor()
    await signIn(page, person.email)
    await page.getByText('Here is what you typed before you signed in. Please send it again.').waitFor()
    expect([new URL(page.url()).pathname, await page.locator(field).inputValue()]).toEqual([path, text])
  }
})
