import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeFaults } from '../../testing/browser/axe.ts'
import { advance, signInByHand, stackAndBrowser } from '../../testing/browser/e2e.ts'
import { confirmationToken, PASSWORD } from '../../testing/people/client.ts'

const DESK = { viewport: { width: 1280, height: 800 } }
const LONG = { timeout: 50_000 }
const EMAIL = 'ada@example.com'
const world = stackAndBrowser({ ec2BootMs: 1500 })

/** From the first click to the dashboard. */
async function signUpByHand(page: Page): Promise<void> {
  await page.goto(`${world.url}/`)
  await page.getByRole('link', { name: 'Start free' }).first().click()
  await page.getByLabel('Name', { exact: true }).fill('Ada Lovelace')
  await page.getByLabel('Email').fill(EMAIL)
  for (const label of ['Password', 'Confirm Password']) await page.getByLabel(label, { exact: true }).fill(PASSWORD)
  await page.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Sign Up' }).click()
  await page.waitForURL('**/sign_in')
  await page.goto(`${world.url}/confirm_email?confirmation_token=${await confirmationToken(world.url, EMAIL)}`)
  await page.getByText('Your email address is confirmed.').waitFor()
  await signInByHand(page, world.url, { email: EMAIL, password: PASSWORD })
}

test('a trial from the first click to the last email: it ends with notice, and the reason stays', async () => {
  const page = await (await world.browser.newContext(DESK)).newPage()
  await signUpByHand(page)
  await page.getByRole('button', { name: 'Start Server' }).click()
  const card = page.getByRole('region', { name: /^Server (starting|running|stopping)$/ })
  await card.getByRole('link', { name: 'Open simulator' }).waitFor(LONG)
  const banner = page.locator('.alert', { hasText: 'minutes left' })
  await banner.getByText(/^29:\d\d$/).waitFor()
  expect(await banner.getAttribute('class')).toContain('alert-info')
  expect(await page.title()).toBe('Dashboard · Proving Ground')
  const ahead = async (seconds: number) => {
    await advance(world.url, seconds)
    await page.getByRole('button', { name: 'Refresh' }).click()
  }

  await ahead(25 * 60)
  await page
    .locator('.alert-warning')
    .getByText(/^04:\d\d$/)
    .waitFor(LONG)
  await page.getByRole('status').filter({ hasText: 'Your free trial ends in 5 minutes.' }).waitFor()
  await expect.poll(() => page.title(), LONG).toMatch(/^04:\d\d left · \(1\) Dashboard · Proving Ground$/)
  expect(await axeFaults(page)).toEqual([])
  await ahead(4 * 60)
  await page
    .locator('.alert-danger')
    .getByText(/^00:\d\d$/)
    .waitFor(LONG)
  await page.getByRole('status').filter({ hasText: 'Your free trial ends in 1 minute.' }).waitFor()
  const title = await page.title()
  await expect.poll(() => page.title(), LONG).not.toBe(title)
  expect(await axeFaults(page)).toEqual([])

  await ahead(60)
  await page.getByText('Your 30 free minutes are used up, so we stopped the server.').waitFor(LONG)
  const row = page.getByRole('row').filter({ hasText: 'stopped' })
  await row.getByText('Free minutes used up').waitFor(LONG)
  await expect.poll(() => page.title(), LONG).toBe('(1) Dashboard · Proving Ground')
  const mails = async () => {
    const all: { to: string; subject: string }[] = await (await fetch(`${world.url}/dev/mailbox.json`)).json()
    return all.filter(({ to, subject }) => to === EMAIL && /free/.test(subject)).map(({ subject }) => subject)
  }
  await expect.poll(mails, LONG).toEqual(['Your free trial is over', '5 free minutes left'])
  await page.context().close()
})
