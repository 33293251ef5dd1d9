import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SEED_EMAILS, SEED_PASSWORD } from '../../dev/seed.ts'
import { type Stack, startStack } from '../../dev/stack.ts'
import { openBrowser } from '../support/chromium.ts'

let stack: Stack
let browser: Browser
let dataDir: string

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'proving-ground-keyboard-'))
  stack = await startStack({ dataDir, ec2BootMs: 300, log: () => {} })
  browser = await openBrowser()
})

afterAll(async () => {
  await browser?.close()
  await stack?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

test('the main job with Tab and Enter alone', async () => {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`${page.url()} ${error}`))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))

  await page.goto(`${stack.url}/`)
  await tabTo(page, 'Interested?')
  await page.keyboard.press('Enter')
  await tabTo(page, 'Sign In')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/sign_in')

  await tabTo(page, 'email')
  await page.keyboard.type(SEED_EMAILS.pilot)
  await tabTo(page, 'password')
  await page.keyboard.type(SEED_PASSWORD)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/dashboard')

  await page.getByText('Live', { exact: true }).waitFor()
  await tabTo(page, 'Start Server')
  await page.keyboard.press('Enter')
  await page.locator('main').getByText('Your server is running.').waitFor()

  await tabTo(page, /^Stop ses_/)
  await page.keyboard.press('Enter')
  await page
    .locator('main')
    .getByText(/^Server stopped\./)
    .waitFor()
  await page.locator('main').getByText('stopped', { exact: true }).waitFor()

  expect(complaints).toEqual([])

  // Signing out closes the page's socket; that it then asks once more, and is refused, may come before the page has gone.
  await tabTo(page, 'Hi Pilot')
  await page.keyboard.press('Enter')
  await tabTo(page, 'Sign Out')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/sign_in')
})

/** Presses Tab until the element of this name (or id) has the focus. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const passed: string[] = []
  for (let stop = 0; stop < 60; stop++) {
    await page.keyboard.press('Tab')
    const names = await page.evaluate(() => {
      const element = document.activeElement
      return [element?.ariaLabel, element?.textContent, element?.id].map((text) => text?.trim() ?? '')
    })
    if (names.some((text) => (typeof name === 'string' ? text === name : name.test(text)))) return
    passed.push(names.find(Boolean) ?? '')
  }
  throw new Error(`Tab does not reach ${name}, only ${passed.join(', ')}`)
}
