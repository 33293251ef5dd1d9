import type { BrowserContext, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { pageOf, stackAndBrowser } from '../../testing/browser/e2e.ts'
import { confirmationToken, newPerson, PASSWORD } from '../../testing/people/client.ts'

const world = stackAndBrowser({ plansForSale: true })

/** A browser without scripts and with someone signed in, and what our policy blocked in it. */
async function openSignedIn() {
  const person = await newPerson(world.url)
  const page = await pageOf(world.browser, world.url, person, { javaScriptEnabled: false })
  const stopped: string[] = []
  page.on('console', (message) => /Content Security Policy/.test(message.text()) && stopped.push(message.text()))
  return { person, context: page.context(), page, stopped }
}

const go = (page: Page, path: string) => page.goto(world.url + path)
const path = (page: Page) => new URL(page.url()).pathname
const press = (page: Page, name: string) => page.locator('main').getByRole('button', { name, exact: true }).click()

/** The sentence is visible exactly once and has the focus, and can be dismissed without a script. */
async function reads(page: Page, sentence: string): Promise<void> {
  const alert = page.locator('main dialog.alert', { hasText: sentence })
  await alert.and(page.locator(':focus')).waitFor({ state: 'visible' })
  expect(await page.getByText(sentence).count(), `"${sentence}" at ${page.url()}`).toBe(1)
  await alert.getByRole('button', { name: 'Dismiss' }).click()
  await alert.waitFor({ state: 'hidden' })
  await page.reload()
  expect(await page.getByText(sentence).count(), `"${sentence}" after a reload`).toBe(0)
}

/** Like a page left open in another tab since before the sign-in. */
async function openSignedOut(context: BrowserContext, page: Page, at: string): Promise<void> {
  const cookies = await context.cookies()
  await context.clearCookies({ name: 'sign_in' })
  await go(page, at)
  await context.addCookies(cookies.filter(({ name }) => name === 'sign_in'))
}

test('requesting a new password while signed in: the sentence appears on the dashboard', async () => {
  const { page, person } = await openSignedIn()
  await go(page, '/forgot_password')
  await page.getByLabel('Email').fill(person.email)
  await press(page, 'Send link')
  expect(path(page)).toBe('/dashboard')
  await reads(page, 'If that address has an account, a password reset link is on its way.')
  await go(page, '/forgot_password')
  await page.getByLabel('Email').fill('nobody')
  await press(page, 'Send link')
  expect(path(page)).toBe('/forgot_password')
  await page.getByText('Please enter a valid email.').waitFor()
})

test('signing up, refused or not, and signing in, from a tab opened before the sign-in', async () => {
  const { context, page, person } = await openSignedIn()
  const signUp = async (email: string) => {
    await openSignedOut(context, page, '/sign_up')
    await page.getByLabel('Name', { exact: true }).fill('Ada')
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByLabel('Confirm Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('checkbox').check()
    await press(page, 'Sign Up')
    expect(path(page)).toBe('/dashboard')
  }
  await signUp('nobody')
  await reads(page, 'Please enter a valid email.')
  await signUp(`new-${person.email}`)
  await reads(page, 'Account created but you need to confirm you email!')

  await openSignedOut(context, page, '/sign_in')
  await page.getByLabel('Email').fill(person.email)
  await page.getByLabel('Password', { exact: true }).fill('a wrong password')
  await press(page, 'Sign In')
  expect(path(page)).toBe('/dashboard')
  await reads(page, 'Invalid email or password.')
})

test('resending the confirmation mail, and using its link, while signed in to another account', async () => {
  const { page, person } = await openSignedIn()
  await go(page, '/confirm_email')
  await page.getByLabel('Email').fill('nobody')
  await page.locator('main form:not([method=dialog]) button').click()
  expect(path(page)).toBe('/confirm_email')
  await reads(page, 'Please enter a valid email.')
  await page.getByLabel('Email').fill(person.email)
  await page.locator('main form:not([method=dialog]) button').click()
  expect(path(page)).toBe('/dashboard')
  await reads(page, 'Confirmation email sent. Please check your inbox.')

  const token = await confirmationToken(world.url, person.email)
  await go(page, `/confirm_email?confirmation_token=${token}`)
  await page.waitForURL('**/dashboard')
  await reads(page, 'Your email address is confirmed. You can sign in now.')
  await go(page, '/confirm_email?confirmation_token=expired')
  await page.waitForURL('**/confirm_email')
  await page.getByText('Invalid or expired confirmation link. You can request').waitFor()
})

test('contact sales, refused and sent, while signed in', async () => {
  const { page } = await openSignedIn()
  await go(page, '/contact_sales')
  await page.getByLabel('Name', { exact: true }).fill('Ada')
  await page.locator('main form:not([method=dialog]) button').click()
  await reads(page, 'Email is required, Please select an option, Message is required')
  await page.getByLabel('Name', { exact: true }).fill('Ada')
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('How did you hear about us?').selectOption('Referral')
  await page.getByLabel('Message').fill('Hello')
  await page.locator('main form:not([method=dialog]) button').click()
  await reads(page, "Thank you for contacting sales! We'll get back to you soon.")
})

test('the profile, the devices, signing out, and signing out again in another tab', async () => {
  const { context, page, person } = await openSignedIn()
  await go(page, '/account_overview')
  await page.getByLabel('Name', { exact: true }).fill('Grace')
  await page.locator('main form[action="/users"] button[type=submit]').click()
  await reads(page, 'Profile updated successfully!')
  const elsewhere = await newPerson(world.url)
  elsewhere.cookies.clear()
  await elsewhere.signIn(person.email, PASSWORD)
  await go(page, '/devices')
  await page
    .getByRole('button', { name: /^Sign out (?!everywhere)/ })
    .first()
    .click()
  await reads(page, 'Device signed out.')

  const other = await context.newPage()
  await go(other, '/dashboard')
  for (const tab of [page, other]) {
    await tab.locator('.menu-button').click()
    await tab.locator('form[action="/users/sign_out"] button').first().click()
    expect(path(tab)).toBe('/sign_in')
    await reads(tab, tab === page ? 'You are signed out.' : 'Please sign in first.')
  }
})

test('starts a server, refuses a second one, shows it on Refresh, and stops it', async () => {
  const { page, stopped } = await openSignedIn()
  await go(page, '/dashboard')
  const again = await page.context().newPage()
  await go(again, '/dashboard')
  await press(page, 'Start Server')
  expect(path(page)).toBe('/dashboard')
  await page.getByText('Starting server! This may take up to 30 seconds...').waitFor()
  await press(again, 'Start Server')
  await again.locator('main dialog.alert-danger').waitFor()
  const stop = page.getByRole('button', { name: /^Stop ses_/ })
  await expect
    .poll(async () => {
      await press(page, 'Refresh')
      return stop.isEnabled()
    })
    .toBe(true)
  expect(new URL(page.url()).search).toBe('')
  await stop.click()
  expect(path(page)).toBe('/stop_server')
  await press(page, 'Stop server')
  expect(path(page)).toBe('/dashboard')
  await page.getByText('Stopping server...').waitFor()
  expect(stopped).toEqual([])
})

test('closing the account says so on the next page', async () => {
  const { page } = await openSignedIn()
  await go(page, '/close_account')
  await page.getByLabel('Current password').fill(PASSWORD)
  await press(page, 'Close my account')
  expect(path(page)).toBe('/sign_in')
  await reads(page, 'Your account is closed.')
})

test("a plan is bought on Stripe's own page, switched, and kept", async () => {
  const { page, stopped } = await openSignedIn()
  await go(page, '/subscriptions')
  await press(page, 'Choose Basic')
  await page.waitForURL('**/c/pay/**')
  expect(new URL(page.url()).origin).not.toBe(world.url)
  await page.getByRole('link', { name: 'Back' }).click()
  await page.waitForURL('**/subscriptions')
  await press(page, 'Choose Premium')
  await page.getByRole('button', { name: 'Pay $250.00' }).click()
  await page.waitForURL('**/dashboard')
  await reads(page, "You're on Premium now: 30 hours per month, on servers with up to 4 NVIDIA L4.")

  await go(page, '/subscriptions')
  expect(await page.getByRole('button', { name: 'Current plan: Premium' }).isDisabled()).toBe(true)
  await page.getByRole('link', { name: 'Switch to Basic' }).click()
  await page.getByRole('button', { name: /^Switch on / }).click()
  await reads(
    page,
    'Then your plan becomes Basic. We stop a server that your plan no longer includes then, and email you a day and an hour before.',
  )
  await press(page, 'Keep Premium')
  await reads(page, 'You keep Premium. It renews on')
  expect(stopped).toEqual([])
})
