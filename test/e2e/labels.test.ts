import { expect, inject, test } from 'vitest'
import { ownBrowser, untilHydrated } from '../../testing/browser/e2e.ts'

const url = inject('url')
const browser = await ownBrowser()

test('a search for a password by label finds one field, and the button beside it by its name', async () => {
  const page = await browser.newPage()
  await page.goto(`${url}/sign_in`)
  await untilHydrated(page)
  await page.getByRole('button', { name: 'Show password', exact: true }).waitFor()
  expect(await page.getByLabel('Password').count()).toBe(1)
  await page.goto(`${url}/sign_up`)
  await untilHydrated(page)
  await page.getByRole('button', { name: 'Show confirm password', exact: true }).waitFor()
  expect(await page.getByLabel('Confirm Password').count()).toBe(1)
})

test('a search for the message by label finds it, even beside an alert', async () => {
  const page = await browser.newPage()
  await page.goto(`${url}/contact_sales`)
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('dialog', { name: 'Notice' }).waitFor()
  expect(await page.getByLabel('Message').count()).toBe(1)
})
