import { expect, inject, test } from 'vitest'
import { axeFaults } from '../../testing/browser/axe.ts'
import { ownBrowser, pageOf, SCRIPT_OR_NOT } from '../../testing/browser/e2e.ts'
import { totpAt } from '../../testing/people/authenticator.ts'
import { newPerson, PASSWORD } from '../../testing/people/client.ts'

const url = inject('url')
const browser = await ownBrowser()
const NARROW = { viewport: { width: 360, height: 740 } }

/** In an accessibility tree, what a screen reader couldn't tell from others of its kind. */
const UNNAMED = /- (button|textbox|link|img|dialog|form|region)(?! ")/

test.each(SCRIPT_OR_NOT)('adds an app, signs in with it, and removes it on a narrow phone, %s', async (_, options) => {
  const person = await newPerson(url)
  const page = await pageOf(browser, url, person, { ...NARROW, ...options })
  const fits = async () => {
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    // axe is a script of its own, and runs where pages run none.
    if (options.javaScriptEnabled !== false) expect(await axeFaults(page)).toEqual([])
    expect(await page.locator('main').ariaSnapshot()).not.toMatch(UNNAMED)
  }
  await page.goto(`${url}/account_overview`)
  await page.getByRole('link', { name: 'Two-factor sign-in' }).click()
  await page.waitForURL('**/account_security')
  await fits()
  await page.locator('summary', { hasText: 'Add an app' }).click()
  await page.getByRole('form', { name: 'Add an app' }).getByLabel('Current password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Add an app' }).click()
  await page.getByRole('img', { name: 'QR code' }).waitFor()
  await fits()
  const secret = await page.locator('.secret').innerText()
  await page.getByLabel('Code from the app').fill('000000')
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText("This code doesn't match.").first().waitFor()
  expect(await page.locator('.secret').innerText()).toBe(secret)
  await page.getByLabel('Code from the app').fill(totpAt(secret, Date.now()))
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('Save these recovery codes now').waitFor()
  await fits()
  const codes = (await page.locator('.secret').innerText()).split('\n')
  expect(codes).toHaveLength(10)

  const other = await (await browser.newContext({ ...NARROW, ...options })).newPage()
  await other.goto(`${url}/sign_in`)
  await other.getByLabel('Email').fill(person.email)
  await other.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await other.getByRole('button', { name: 'Sign In', exact: true }).click()
  await other.getByText('Your password is right.').waitFor()
  if (options.javaScriptEnabled !== false) expect(await axeFaults(other)).toEqual([])
  await other.getByLabel('Code').fill('wrong')
  await other.getByRole('button', { name: 'Sign In', exact: true }).click()
  await other.getByText('This code is wrong').first().waitFor()
  await other.getByLabel('Code').fill(codes[0] ?? '')
  await other.getByRole('button', { name: 'Sign In', exact: true }).click()
  await other.waitForURL('**/dashboard')

  await page.goto(`${url}/account_security`)
  await page.getByText('9 of 10 left').waitFor()
  await page.getByText('Remove the app').click()
  await fits()
  // The page asks for the same things several times: each form says what for.
  const remove = page.getByRole('form', { name: 'Remove the app' })
  await remove.getByLabel('Current password').fill(PASSWORD)
  await remove.getByLabel('Code').fill(codes[1] ?? '')
  await remove.getByRole('button', { name: 'Remove the app' }).click()
  await page.getByText('Your authenticator app is removed.').waitFor()
})

test('a new password takes a code in the profile', async () => {
  const person = await newPerson(url)
  const page = await pageOf(browser, url, person)
  await page.goto(`${url}/account_security`)
  await page.locator('summary', { hasText: 'Add an app' }).click()
  await page.getByRole('form', { name: 'Add an app' }).getByLabel('Current password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Add an app' }).click()
  const secret = await page.locator('.secret').innerText()
  await page.getByLabel('Code from the app').fill(totpAt(secret, Date.now()))
  await page.getByRole('button', { name: 'Confirm' }).click()
  const [code = ''] = (await page.locator('.secret').innerText()).split('\n')
  await page.goto(`${url}/account_overview`)
  await page.getByText('Change password (optional)').click()
  await page.getByLabel('Current password').fill(PASSWORD)
  await page.getByLabel('New password', { exact: true }).fill('another horse 10')
  await page.getByLabel('Confirm new password').fill('another horse 10')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Enter a code from your authenticator app').first().waitFor()
  await page.getByLabel('Code').fill(code)
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Profile updated successfully!').waitFor()
  expect(await page.getByLabel('Code').inputValue()).toBe('')
})
