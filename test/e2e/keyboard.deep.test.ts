import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { SEED_EMAILS, SEED_PASSWORD } from '../../dev/seed.ts'
import { complaintsOf, DESK, hold, pageOf, stackAndBrowser, untilHydrated } from '../../testing/browser/e2e.ts'
import { newPerson } from '../../testing/people/client.ts'

const world = stackAndBrowser()

test('the main job with only Tab and Enter', async () => {
  const page = await world.browser.newPage(DESK)
  const complaints = complaintsOf(page)

  await page.goto(`${world.url}/`)
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

  // Its page opens in a new tab.
  await page.getByRole('link', { name: /^127\./ }).waitFor()
  await tabTo(page, /^127\./)
  const [vehicle] = await Promise.all([page.context().waitForEvent('page'), page.keyboard.press('Enter')])
  await vehicle.getByRole('heading').first().waitFor()
  await vehicle.close()

  await tabTo(page, /^Stop ses_/)
  await page.keyboard.press('Enter')
  await tabTo(page, 'Stop server')
  await page.keyboard.press('Enter')
  await page
    .locator('main')
    .getByText(/^Server stopped\./)
    .waitFor()
  await page.locator('main').getByText('stopped', { exact: true }).waitFor()

  await tabTo(page, 'Hi Pilot')
  await page.keyboard.press('Enter')
  await tabTo(page, 'Sign Out')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/sign_in')
  expect(complaints).toEqual([])
})

test('Enter on Start and on Stop keeps the focus, and gives it to Start once there is nothing to stop', async () => {
  const page = await pageOf(world.browser, world.url, await newPerson(world.url))
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim())
  await page.goto(`${world.url}/dashboard`)
  await page.getByText('Live', { exact: true }).waitFor()
  const start = page.getByRole('button', { name: 'Start Server' })
  await start.focus()
  await page.keyboard.press('Enter')
  await page.locator('main').getByText('Your server is running.').waitFor()
  expect(await focused()).toBe('Start Server')
  expect(await start.isDisabled()).toBe(true)
  // It is disabled, so another Enter does nothing.
  const starts: string[] = []
  page.on('request', (request) => /server_available|start_request/.test(request.url()) && starts.push(request.url()))
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  expect(await focused()).not.toBe('Start Server')
  expect(await start.evaluate((button: HTMLButtonElement) => button.disabled)).toBe(true)
  expect(starts).toEqual([])

  const end = hold(world)
  await page.getByRole('button', { name: /^Stop ses_/ }).focus()
  await page.keyboard.press('Enter')
  await tabTo(page, 'Stop server')
  await page.keyboard.press('Enter')
  await page.locator('main').getByText('Stopping server...').waitFor()
  expect(await focused()).toBe('Stop')
  end.release()
  const stopped = page.locator('main').getByText(/^Server stopped\./)
  await stopped.waitFor()
  await expect.poll(focused).toBe('Start Server')
  // The page asks again what is free, and starts nothing.
  expect(starts.filter((url) => url.includes('start_request'))).toEqual([])
  await page.context().close()
})

test('Enter on Cancel gives the focus to Start, before another start is possible', async () => {
  const boot = hold(world)
  const person = await newPerson(world.url)
  await person.post('/api/v1/aws/auto_cloud_start_request')
  const page = await pageOf(world.browser, world.url, person)
  await page.goto(`${world.url}/dashboard`)
  await untilHydrated(page)
  const card = page.getByRole('region', { name: 'Server starting' })
  await card.getByRole('button', { name: 'Cancel' }).focus()
  await page.keyboard.press('Enter')
  await card.waitFor({ state: 'detached' })
  await page.locator('button:focus', { hasText: 'Start Server' }).waitFor()
  boot.release()
  await page.context().close()
})

test('gives the focus back to Stop, even if it moved on before the question came', async () => {
  const person = await newPerson(world.url)
  await person.post('/api/v1/aws/auto_cloud_start_request')
  const page = await pageOf(world.browser, world.url, person)
  await page.goto(`${world.url}/dashboard`)
  await untilHydrated(page)
  const stop = page.getByRole('region', { name: 'Server running' }).getByRole('button', { name: 'Stop', exact: true })
  await stop.evaluate((button: HTMLButtonElement) => {
    button.focus()
    button.click()
    document.querySelector<HTMLElement>('footer a')?.focus()
  })
  await page.getByRole('dialog', { name: 'Stop this server?' }).waitFor()
  await page.keyboard.press('Escape')
  await page.locator('button:focus', { hasText: 'Stop' }).waitFor()
  await page.context().close()
})

test("a form's answer takes the focus, and typed text stays", async () => {
  const page = await world.browser.newPage()
  const focused = (text: string) => page.locator('.alert:focus').filter({ hasText: text }).waitFor()

  // Answered by the page itself …
  await page.goto(`${world.url}/sign_in`)
  await untilHydrated(page)
  await page.getByLabel('Email').fill(SEED_EMAILS.pilot)
  await page.getByLabel('Password', { exact: true }).fill('not this one')
  await page.keyboard.press('Enter')
  await focused('Invalid email or password.')
  expect(await page.getByLabel('Email').inputValue()).toBe(SEED_EMAILS.pilot)
  await page.getByLabel('Email').fill('')
  await page.keyboard.press('Enter')
  await focused('Please enter your email and password.')
  // One sentence for both fields: the one it applies to is marked and repeats it.
  const marked = page.locator('main [aria-invalid=true]')
  expect(await marked.evaluateAll((fields) => fields.map(({ id }) => id))).toEqual(['email'])
  expect(await describes(marked)).toBe('Please enter your email and password.')
  await page.goto(`${world.url}/sign_up`)
  await untilHydrated(page)
  await page.getByLabel('Email').fill('ada@example.com')
  for (const label of ['Password', 'Confirm Password'])
    await page.getByLabel(label, { exact: true }).fill('a good password')
  await page.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Sign Up' }).click()
  await focused('All fields are required.')
  expect(await marked.evaluateAll((fields) => fields.map(({ id }) => id))).toEqual(['name'])
  expect(await describes(marked)).toBe('All fields are required.')

  // … by the next page …
  await page.goto(`${world.url}/contact_sales`)
  await page.getByLabel('Name', { exact: true }).fill('Ada')
  await page.keyboard.press('Enter')
  await focused('Email is required, Please select an option, Message is required')
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Ada')

  // … and by a form with a single field.
  await page.goto(`${world.url}/confirm_email?confirmation_token=expired`)
  await page.getByText('Invalid or expired confirmation link.').waitFor()
  for (let time = 0; time < 2; time++) {
    await page.getByRole('button', { name: 'Resend confirmation email' }).click()
    await page.locator('#email:focus[aria-invalid=true]').waitFor()
  }
  await page.context().close()
})

const describes = (field: Locator) =>
  field.evaluate((element) => document.getElementById(element.getAttribute('aria-describedby') ?? '')?.textContent)

/** Presses Tab until the element with this name (or id) has the focus. */
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
