import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Stack, startStack } from '../../dev/stack.ts'
import { openBrowser } from '../support/chromium.ts'
import { newPerson } from '../support/client.ts'

/** A test gives up when its time is over, not before. */
const PATIENCE = { timeout: 50_000 }
let stack: Stack
let browser: Browser
let dataDir: string

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'proving-ground-dashboard-'))
  stack = await startStack({ dataDir, ec2BootMs: 300, log: () => {} })
  browser = await openBrowser()
})

afterAll(async () => {
  await browser?.close()
  await stack?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** The dashboard of a new person with a trial. */
async function openDashboard(): Promise<{
  page: Page
  context: BrowserContext
  person: Awaited<ReturnType<typeof newPerson>>
}> {
  const person = await newPerson(stack.url)
  const context = await browser.newContext({ timezoneId: 'America/New_York' })
  await context.addCookies([...person.cookies].map(([name, value]) => ({ name, value, url: stack.url })))
  const page = await context.newPage()
  await page.goto(`${stack.url}/dashboard`)
  await page.getByText('Live', { exact: true }).waitFor()
  return { page, context, person }
}

test('a lost network: what was known stays, with its age and a Retry; it is live again as soon as the network is', async () => {
  const { page, context } = await openDashboard()
  await context.setOffline(true)
  await page.getByText('Reconnecting…').waitFor()
  await page.getByText(/^Reconnecting… as of [1-9]\d* s ago$/).waitFor()
  await page.getByRole('button', { name: 'Refresh' }).click()
  const alert = page.getByRole('alert').filter({ hasText: 'Failed to load servers' })
  await alert.waitFor()
  await page.getByText('No servers yet. Click "Start Server" to launch one.').waitFor()
  await alert.getByRole('button', { name: 'Retry' }).click()
  await alert.waitFor()

  await context.setOffline(false)
  await page.getByText('Live', { exact: true }).waitFor()
  await alert.waitFor({ state: 'detached' })
  await context.close()
})

test('a running server: its meter and the trial count by the second, its address can be copied', async () => {
  const { page, context } = await openDashboard()
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByText(/^Free: 30\.00 trial minutes/).waitFor()
  await page.getByRole('button', { name: 'Start Server' }).click()
  await page.getByText(/^[2-9] s · \$0\.00 free trial$/).waitFor()
  await page.getByText('One server at a time').waitFor()
  // Read again every 30 s, and yet the banner goes on each second in between.
  const minutes = async () => Number(await page.getByText('minutes left').locator('strong').textContent())
  const before = await minutes()
  expect(before).toBeLessThan(30)
  await expect.poll(minutes, PATIENCE).toBeLessThan(before)
  const started = page.getByRole('row').filter({ hasText: 'running' }).locator('time')
  expect(await started.textContent()).toMatch(/ E[SD]T$/)
  expect(await started.getAttribute('title')).toMatch(/ UTC$/)

  const copy = page.getByRole('button', { name: /^Copy 127\./ })
  await copy.click()
  await page.getByRole('status').filter({ hasText: 'Address copied.' }).waitFor()
  expect(`Copy ${await page.evaluate(() => navigator.clipboard.readText())}`).toBe(
    await copy.getAttribute('aria-label'),
  )
  await context.close()
})

test('each change of a job is said once, in one live region', async () => {
  const { page, context } = await openDashboard()
  await page.evaluate(() => {
    const said: string[] = []
    Object.assign(window, { said })
    new MutationObserver((changes) => {
      for (const change of changes) {
        const at = change.target instanceof Element ? change.target : change.target.parentElement
        // The nearest region decides; one that is off says nothing.
        const region = at?.closest('[aria-live], [role=status], [role=alert]')
        if (!region || region.getAttribute('aria-live') === 'off' || !region.closest('.notices')) continue
        if (change.type === 'characterData') said.push(change.target.textContent ?? '')
        for (const node of change.addedNodes)
          for (const off of [node.cloneNode(true)]) {
            if (off instanceof Element) for (const quiet of off.querySelectorAll('[aria-live=off]')) quiet.remove()
            if (off.textContent) said.push(off.textContent)
          }
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true })
  })
  await page.getByRole('button', { name: 'Start Server' }).click()
  await page.getByText('Your server is running.').waitFor()
  await page.getByRole('button', { name: /^Stop / }).click()
  await page.getByText(/^Server stopped\./).waitFor()
  const said = (await page.evaluate(() => (window as unknown as { said: string[] }).said)).join('\n')
  for (const sentence of ['Starting server!', 'Your server is running.', 'Stopping server...', 'Server stopped.'])
    expect(said.split(sentence).length - 1, `${sentence} in:\n${said}`).toBe(1)
  expect(await page.locator('.notices [role=status], .notices [role=alert]').count()).toBe(0)
  await context.close()
})

test('a full fleet: how many places were looked at, when to try again, whom to ask', async () => {
  const { page, context } = await openDashboard()
  await page.clock.install()
  await page.route('**/api/v1/aws/server_available', (route) =>
    route.fulfill({ json: { ServerAvailable: false, candidates: [{}, {}, {}] } }),
  )
  await page.getByRole('button', { name: 'Start Server' }).click()
  await page.getByText('No GPU servers available right now. All servers are reserved. (Checked 3 candidates)').waitFor()
  expect(await page.getByRole('link', { name: 'Contact sales' }).last().getAttribute('href')).toBe('/contact_sales')
  const again = page.getByRole('button', { name: /^Try again/ })
  expect(await again.textContent()).toBe('Try again in 30 s')
  expect(await again.isDisabled()).toBe(true)
  for (let second = 0; second < 30; second++) await page.clock.runFor(1000)
  await expect.poll(() => again.textContent(), PATIENCE).toBe('Try again')
  expect(await page.getByRole('button', { name: 'Request More Servers' }).isDisabled()).toBe(true)

  await page.unroute('**/api/v1/aws/server_available')
  await again.click()
  await page.getByText('provisioning').waitFor()
  expect(await again.count()).toBe(0)
  await context.close()
})
