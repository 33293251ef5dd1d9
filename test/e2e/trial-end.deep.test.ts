import { expect, test } from 'vitest'
import { axeFaults } from '../../testing/browser/axe.ts'
import {
  advance,
  DESK,
  PHONE,
  pageOf,
  SCRIPT_OR_NOT,
  stackAndBrowser,
  untilHydrated,
} from '../../testing/browser/e2e.ts'
import { mailsTo, newPerson } from '../../testing/people/client.ts'

const world = stackAndBrowser({ ec2BootMs: 1500, plansForSale: true })

test('a trial from its first server to its last email: it ends with notice, and the reason stays', async () => {
  const person = await newPerson(world.url)
  const page = await pageOf(world.browser, world.url, person, DESK)
  await page.goto(`${world.url}/dashboard`)
  await untilHydrated(page)
  await page.getByRole('button', { name: 'Start Server' }).click()
  const card = page.getByRole('region', { name: /^Server (starting|running|stopping)$/ })
  await card.getByRole('link', { name: 'Open simulator' }).waitFor()
  await card.getByText(/^29\.\d\d$/).waitFor()
  expect(await card.locator('.alert').count()).toBe(0)
  expect(await page.title()).toBe('Dashboard · Proving Ground')
  const ahead = async (seconds: number) => {
    await advance(world.url, seconds)
    await page.getByRole('button', { name: 'Refresh' }).click()
  }

  await ahead(25 * 60)
  await page
    .locator('.alert-warning')
    .getByText(/^4\.\d\d$/)
    .waitFor()
  await page.getByRole('status').filter({ hasText: 'Your free trial ends in 5 minutes.' }).waitFor()
  await expect.poll(() => page.title()).toMatch(/^4\.\d\d minutes left · \(1\) Dashboard · Proving Ground$/)
  expect(await axeFaults(page)).toEqual([])
  await ahead(4 * 60)
  await page
    .locator('.alert-danger')
    .getByText(/^0\.\d\d$/)
    .waitFor()
  await page.getByRole('status').filter({ hasText: 'Your free trial ends in 1 minute.' }).waitFor()
  const title = await page.title()
  await expect.poll(() => page.title()).not.toBe(title)
  expect(await axeFaults(page)).toEqual([])

  await ahead(60)
  await page.getByText('Your 30 free minutes are used up, so we stopped the server.').waitFor()
  const row = page.getByRole('row').filter({ hasText: 'stopped' })
  await row.getByText('Free minutes used up').waitFor()
  await expect.poll(() => page.title()).toBe('(1) Dashboard · Proving Ground')
  const subjects = async () => (await mailsTo(world.url, person.email)).map(({ subject }) => subject)
  await expect
    .poll(async () => (await subjects()).filter((subject) => subject.includes('free')))
    .toEqual(['Your free trial is over', '5 free minutes left'])
  await page.context().close()
})

test.each(SCRIPT_OR_NOT)(
  'a plan bought while a trial server runs leads back to it and asks once when it should stop, %s',
  async (_, options) => {
    const person = await newPerson(world.url)
    await person.post('/api/v1/aws/auto_cloud_start_request', {})
    const page = await pageOf(world.browser, world.url, person, { ...PHONE, ...options })
    await page.goto(`${world.url}/dashboard`)
    await page.getByText('Stops when your free minutes are used up').waitFor()
    await page.goto(`${world.url}/subscriptions`)
    await page.getByRole('button', { name: 'Choose Basic' }).click()
    await page.getByRole('button', { name: 'Pay $25.00' }).click()
    await page.waitForURL('**/dashboard')
    await page.getByText("You're on Basic now: 5 hours per month").waitFor()
    await page.getByText(/^Stops at .+, in (4h 0m|3h 59m)$/).waitFor()
    const question = page.getByLabel('When should it stop?')
    expect(await question.evaluate((select: HTMLSelectElement) => select.selectedOptions[0]?.text)).toBe('In 4 h')
    if (options.javaScriptEnabled !== false) expect(await axeFaults(page)).toEqual([])
    await question.selectOption({ label: 'In 8 h' })
    await page.locator('form', { has: question }).getByRole('button', { name: 'Set' }).click()
    await page.getByText(/^Stops at .+, in (8h 0m|7h 59m)$/).waitFor()
    expect(await question.count()).toBe(0)
    await page.reload()
    await page.getByText(/^Stops at .+, in (8h 0m|7h 59m)$/).waitFor()
    expect(await question.count()).toBe(0)
    await page.context().close()
  },
)
