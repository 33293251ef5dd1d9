import type { Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { complaintsOf, ownBrowser, pageOf } from '../../testing/browser/e2e.ts'
import { newPerson } from '../../testing/people/client.ts'

const url = inject('url')
const browser = await ownBrowser()

/** Opens a page and waits for its prefetch rules; the list grows with what the browser prefetches from then on. */
async function openWithRules(page: Page, path: string) {
  const ahead: string[] = []
  page.on('request', (request) => {
    if (request.headers()['sec-purpose']?.startsWith('prefetch')) ahead.push(new URL(request.url()).pathname)
  })
  const complaints = complaintsOf(page)
  await Promise.all([page.waitForResponse(`${url}/prefetch.json`), page.goto(url + path)])
  await page.waitForLoadState('load')
  return { ahead, complaints }
}

const delivery = (page: Page) =>
  page.evaluate(
    () => (performance.getEntriesByType('navigation')[0] as { deliveryType?: string } | undefined)?.deliveryType,
  )

test('prefetches a public page while the pointer rests on its link, and shows that copy', async () => {
  const page = await browser.newPage()
  const { ahead, complaints } = await openWithRules(page, '/sign_in')
  const pricing = page.getByRole('navigation', { name: 'Site' }).getByRole('link', { name: 'Pricing' })
  await pricing.hover()
  await expect.poll(() => ahead).toEqual(['/pricing'])
  await pricing.click()
  await page.waitForURL('**/pricing')
  expect(await delivery(page)).toBe('navigational-prefetch')
  expect(complaints).toEqual([])
})

test('a form that leads into the app prefetches its style sheet once the browser is idle; other pages do not', async () => {
  const page = await browser.newPage()
  const sheets: string[] = []
  page.on('request', (request) => request.url().includes('/app-') && sheets.push(request.resourceType()))
  await page.goto(`${url}/`)
  await page.locator('.hero.is-live').waitFor()
  expect(sheets).toEqual([])
  await page.goto(`${url}/sign_in`)
  await expect.poll(() => sheets).toEqual(['stylesheet'])
})

test('prefetches a personal page on press; the dashboard, which counts seconds, only loads when opened', async () => {
  const page = await pageOf(browser, url, await newPerson(url))
  const { ahead, complaints } = await openWithRules(page, '/billing_history')
  const rail = page.getByRole('navigation', { name: 'Main' })

  await rail.getByRole('link', { name: 'Settings' }).hover()
  await rail.getByRole('link', { name: 'Dashboard' }).hover()
  await page.mouse.down()
  await page.mouse.move(600, 400)
  await page.mouse.up()
  await rail.getByRole('link', { name: 'Settings' }).hover()
  await page.mouse.down()
  await expect.poll(() => ahead).toEqual(['/account_overview'])
  await page.mouse.up()
  await page.waitForURL('**/account_overview')
  expect(await delivery(page)).toBe('navigational-prefetch')

  await rail.getByRole('link', { name: 'Dashboard' }).click()
  await page.waitForURL('**/dashboard')
  expect(await delivery(page)).not.toBe('navigational-prefetch')
  expect(complaints).toEqual([])
})
