import type { Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { ownBrowser, pageOf, SCRIPT_OR_NOT, untilHydrated } from '../../testing/browser/e2e.ts'
import { newPerson } from '../../testing/people/client.ts'

/** What a new person meets first, with and without a script. */

const url = inject('url')
const browser = await ownBrowser()

test.each(SCRIPT_OR_NOT)('%s, an empty dashboard shows three steps, until the first server', async (_, options) => {
  const person = await newPerson(url)
  const page = await pageOf(browser, url, person, options)
  await page.goto(`${url}/dashboard`)
  const steps = page.getByRole('region', { name: 'Your first flight' })
  expect(await steps.getByRole('heading', { level: 3 }).allInnerTexts()).toEqual([
    'Start a server',
    'Fly',
    'Stop and see the bill',
  ])
  await page.getByText('Free in your trial. You need no card.').waitFor()
  const sessions = page.getByRole('region', { name: 'Sessions' })
  expect((await steps.boundingBox())?.y).toBeLessThan((await sessions.boundingBox())?.y ?? 0)
  await page.getByRole('button', { name: 'Start Server' }).click()
  await steps.waitFor({ state: 'hidden' })
  await page.goto(`${url}/dashboard`)
  expect(await steps.count()).toBe(0)
  await page.context().close()
})

test('sign-up says what is free, and which fields it needs', async () => {
  const page = await browser.newPage()
  await page.goto(`${url}/sign_up`)
  await page.getByText('30 minutes free, no card.').waitFor()
  const required = (inputs: Element[]) => inputs.every((input) => (input as HTMLInputElement).required)
  expect(await page.locator('main input:not([type=hidden])').evaluateAll(required)).toBe(true)
  expect(await page.getByLabel('Name', { exact: true }).getAttribute('dir')).toBe('auto')
  await page.context().close()
})

test.each(SCRIPT_OR_NOT)('%s, a password manager finds the folded password form', async (_, options) => {
  const page = await pageOf(browser, url, await newPerson(url), options)
  await page.goto(`${url}/account_overview`)
  const current = page.getByLabel('Current password', { exact: true })
  expect(await current.isVisible()).toBe(false)
  await page.goto(`${url}/.well-known/change-password`)
  expect(page.url()).toBe(`${url}/account_overview#current_password`)
  await current.waitFor({ state: 'visible' })

  // A fault in it also opens it.
  await page.goto(`${url}/account_overview`)
  if (options.javaScriptEnabled !== false) await untilHydrated(page)
  await page.getByText('Change password (optional)').click()
  await current.fill('not the password')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Please fill in both new password fields.').first().waitFor()
  expect(await current.isVisible()).toBe(true)
  await page.context().close()
})

/** Follows a link. Returns whether the browser asked first; if it did, stays on the page. */
async function asksBeforeLeaving(page: Page, leave: () => Promise<unknown>): Promise<boolean> {
  const asked = new Promise<boolean>((resolve) => {
    page.once('dialog', (dialog) => {
      resolve(dialog.type() === 'beforeunload')
      void dialog.dismiss()
    })
    void page.waitForEvent('framenavigated').then(
      () => resolve(false),
      () => {},
    )
  })
  void leave().catch(() => {})
  const was = await asked
  page.removeAllListeners('dialog')
  return was
}

test('asks before leaving with an edited profile, and not once it is saved', async () => {
  const page = await pageOf(browser, url, await newPerson(url))
  await page.goto(`${url}/account_overview`)
  await untilHydrated(page)
  const leave = () => page.getByRole('link', { name: 'Signed-in devices' }).click({ noWaitAfter: true })
  const name = page.getByLabel('Name', { exact: true })
  const before = await name.inputValue()
  await name.fill('Grace Hopper')
  expect(await asksBeforeLeaving(page, leave)).toBe(true)
  expect(page.url()).toBe(`${url}/account_overview`)
  expect(await name.inputValue()).toBe('Grace Hopper')
  await name.fill(before)
  expect(await asksBeforeLeaving(page, leave)).toBe(false)

  await page.goto(`${url}/account_overview`)
  await untilHydrated(page)
  await name.fill('Grace Hopper')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Profile updated successfully!').waitFor()
  expect(await asksBeforeLeaving(page, leave)).toBe(false)
  await page.context().close()
})

test('asks before leaving a message to sales, but not when sending it', async () => {
  const page = await browser.newPage()
  await page.goto(`${url}/contact_sales`)
  await page.waitForLoadState('networkidle')
  await page.getByLabel('Message').fill('Twelve rovers.')
  const pricing = () => page.getByRole('link', { name: 'Pricing' }).first().click({ noWaitAfter: true })
  expect(await asksBeforeLeaving(page, pricing)).toBe(true)
  expect(await page.getByLabel('Message').inputValue()).toBe('Twelve rovers.')
  const send = () => page.getByRole('button', { name: 'Send' }).click({ noWaitAfter: true })
  expect(await asksBeforeLeaving(page, send)).toBe(false)
  await page.context().close()
})
