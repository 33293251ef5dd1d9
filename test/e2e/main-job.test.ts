import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { complaintsOf, confirmStop, DESK, hold, stackAndBrowser } from '../../testing/browser/e2e.ts'
import { confirmationToken, PASSWORD } from '../../testing/people/client.ts'

const world = stackAndBrowser({ ec2BootMs: 1500 })

test('from sign-up to a stopped server without a reload', async () => {
  const page = await world.browser.newPage(DESK)
  const complaints = complaintsOf(page)

  const email = 'ada@example.com'
  await page.goto(`${world.url}/`)
  await page.getByRole('button', { name: 'Interested?' }).click()
  await page.getByRole('link', { name: 'Sign Up' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Ada Lovelace')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  const submit = page.getByRole('button', { name: 'Sign Up' })
  await page.getByLabel('Confirm Password', { exact: true }).fill(`${PASSWORD}!`)
  await page.getByText('Passwords do not match.').waitFor()
  expect(await submit.isDisabled()).toBe(true)
  await page.getByLabel('Confirm Password', { exact: true }).fill(PASSWORD)
  await page.getByText('Passwords match.').waitFor()
  await page.getByRole('checkbox').check()
  await submit.click()
  await page.waitForURL('**/sign_in')
  await page.getByText('Account created but you need to confirm you email!').waitFor()

  await page.goto(`${world.url}/confirm_email?confirmation_token=${await confirmationToken(world.url, email)}`)
  await page.getByRole('link', { name: 'Sign in now' }).click()
  await page.waitForURL('**/sign_in')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign In', exact: true }).click()
  await page.waitForURL('**/dashboard')

  let loads = 0
  page.on('load', () => {
    loads += 1
  })
  await page.getByText('No servers yet. Click "Start Server" to launch one.').waitFor()
  await page.getByText('30.00', { exact: true }).first().waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  const boot = hold(world)
  await page.getByRole('button', { name: 'Start Server' }).click()
  await page.locator('main').getByText('Starting server! This may take up to 30 seconds...').waitFor()
  await page.getByText('provisioning').waitFor()
  boot.release()
  await page.locator('main').getByText('Your server is running.').waitFor()
  await page.getByText('running', { exact: true }).waitFor()
  expect(await page.getByRole('button', { name: 'Start Server' }).isDisabled()).toBe(true)

  const address = page.getByRole('link', { name: /^127\./ })
  await address.waitFor()
  expect(await address.getAttribute('href')).toMatch(/^http:\/\/127\.[\d.]+:5173$/)
  const [vehicle] = await Promise.all([page.context().waitForEvent('page'), address.click()])
  await vehicle.getByRole('heading').first().waitFor()
  await vehicle.close()

  // The meter is running by now, but counts only whole seconds of the clock: the first may take almost two.
  const running = page.getByRole('row').filter({ hasText: 'running' })
  const metered = (await uptimeOf(running)) + 3
  await expect.poll(() => uptimeOf(running)).toBeGreaterThanOrEqual(metered)
  await page.getByRole('button', { name: /^Stop / }).click()
  await confirmStop(page)
  await page
    .locator('main')
    .getByText(/^Server stopped\. You used \d+s of your free trial\. Startup \(\d+s\) was free\.$/)
    .waitFor()
  await page.getByText('stopped', { exact: true }).waitFor()
  const row = page.getByRole('row').filter({ hasText: 'stopped' })
  // Uptime starts just before the first answer, when the meter starts.
  const uptime = await uptimeOf(row)
  const receipt = await page
    .locator('main')
    .getByText(/^Server stopped\./)
    .textContent()
  const used = Number(/You used (\d+)s/.exec(receipt ?? '')?.[1])
  expect(used).toBeGreaterThan(0)
  expect(used).toBeLessThanOrEqual(uptime)
  expect(loads).toBe(0)

  await page.getByRole('button', { name: 'Hi Ada Lovelace' }).click()
  await page.getByRole('button', { name: 'Sign Out' }).click()
  await page.waitForURL('**/sign_in')
  expect(complaints).toEqual([])
})

test('sign-up, sign-in, and sign-out work without JavaScript', async () => {
  const page = await world.browser.newPage({ javaScriptEnabled: false })
  const email = 'grace@example.com'
  await page.goto(`${world.url}/sign_up`)
  await page.getByLabel('Name', { exact: true }).fill('Grace')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByLabel('Confirm Password', { exact: true }).fill('something else')
  await page.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Sign Up' }).click()
  await page.getByText('Passwords do not match.').first().waitFor()
  expect(await page.getByLabel('Email').inputValue()).toBe(email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByLabel('Confirm Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Sign Up' }).click()
  await page.getByText('Account created but you need to confirm you email!').waitFor()

  await page.goto(`${world.url}/confirm_email?confirmation_token=${await confirmationToken(world.url, email)}`)
  // Without a script, the page redirects to the call that confirms, and that to the sign-in.
  await page.waitForURL('**/sign_in')
  await page.getByText('Your email address is confirmed. You can sign in now.').waitFor()
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign In', exact: true }).click()
  await page.getByRole('heading', { name: 'Dashboard' }).waitFor()
  await page.getByText('No servers yet. Click "Start Server" to launch one.').waitFor()
  await page.getByRole('button', { name: 'Hi Grace' }).click()
  await page.getByRole('button', { name: 'Sign Out' }).click()
  await page.waitForURL('**/sign_in')
})

async function uptimeOf(row: Locator): Promise<number> {
  return Number.parseInt((await row.getByText(/^\d+s$/).textContent()) ?? '', 10)
}
