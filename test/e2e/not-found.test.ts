import { inject, test } from 'vitest'
import { ownBrowser } from '../../testing/browser/e2e.ts'

const url = inject('url')
const browser = await ownBrowser()

test('Go Back leads to the previous page, even if the address was typed', async () => {
  const page = await browser.newPage()
  await page.goto(`${url}/pricing`)
  await page.goto(`${url}/no-such-page`)
  await page.waitForLoadState('networkidle')
  await page.getByRole('link', { name: 'Go Back' }).click()
  await page.waitForURL('**/pricing')
})

test('Go Back leads home if the previous page was not ours', async () => {
  const page = await browser.newPage()
  await page.goto(`${url}/no-such-page`)
  await page.waitForLoadState('networkidle')
  await page.getByRole('link', { name: 'Go Back' }).click()
  await page.waitForURL(`${url}/`)
})
