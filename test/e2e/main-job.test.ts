import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { complaintsOf, confirmStop, DESK, hold, stackAndBrowser } from '../../testing/browser/e2e.ts'
import { confirmationToken, PASSWORD } from '../../testing/people/client.ts'

const world = stackAndBrowser({ ec2BootMs: 1500 })

test('from sign-up to a stopped server without a reload, and to the simulator in six clicks', async () => {
  const page = await world.browser.newPage(DESK)
  const complaints = complaintsOf(page)

  const email = 'ada@example.com'
  const clicks = await countClicks(page)
  await page.goto(`${world.url}/`)
  await page.locator('main').getByRole('link', { name: 'Start free' }).first().click()
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

  // The sixth click: the mail's link.
  await page.goto(`${world.url}/confirm_email?confirmation_token=${await confirmationToken(world.url, email)}`)
  await page.getByText("Your email address is confirmed, and you're signed in.").waitFor()
  // By itself, after ten seconds.
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
  expect(clicks).toEqual(['Start free', 'checkbox', 'Sign Up', 'Start Server', await address.textContent()])
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
  // Without a script, the page redirects to the call that confirms, and that by way of the sign-in to the dashboard.
  await page.waitForURL('**/dashboard')
  await page.getByText("Your email address is confirmed, and you're signed in.").waitFor()
  await page.getByText('No servers yet. Click "Start Server" to launch one.').waitFor()
  await page.getByRole('button', { name: 'Hi Grace' }).click()
  await page.getByRole('button', { name: 'Sign Out' }).click()
  await page.waitForURL('**/sign_in')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign In', exact: true }).click()
  await page.getByRole('heading', { name: 'Dashboard' }).waitFor()
})

/** What people clicked, on all pages of this tab. */
async function countClicks(page: Page): Promise<string[]> {
  const clicks: string[] = []
  await page.exposeFunction('noteClick', (name: string) => void clicks.push(name))
  await page.addInitScript(() => {
    const note = ({ target }: Event) => {
      const { textContent, type } = target as HTMLInputElement
      ;(window as unknown as { noteClick(name: string): void }).noteClick(textContent?.trim() || type)
    }
    addEventListener('click', note, true)
  })
  return clicks
}

async function uptimeOf(row: Locator): Promise<number> {
  return Number.parseInt((await row.getByText(/^\d+s$/).textContent()) ?? '', 10)
}
