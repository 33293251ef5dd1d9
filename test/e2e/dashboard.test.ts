import { expect, inject, test } from 'vitest'
import { complaintsOf, ownBrowser, pageOf } from '../../testing/browser/e2e.ts'
import { openSocket } from '../../testing/people/cable.ts'
import { newPerson } from '../../testing/people/client.ts'

const url = inject('url')
const browser = await ownBrowser()

/** The dashboard of a new person on a trial. */
async function openDashboard() {
  const page = await pageOf(browser, url, await newPerson(url), { timezoneId: 'America/New_York' })
  await page.goto(`${url}/dashboard`)
  await page.getByText('Live', { exact: true }).waitFor()
  return { page, context: page.context() }
}

test('offline, keeps what was known, with its age and a Retry, and goes live again with the network', async () => {
  const { page, context } = await openDashboard()
  await context.setOffline(true)
  await page.getByText('Reconnecting…').waitFor()
  await page.getByText(/^Reconnecting… last update [1-9]\d* s ago$/).waitFor()
  await page.getByRole('button', { name: 'Refresh' }).click()
  const alert = page.getByRole('alert').filter({ hasText: 'You seem to be offline.' })
  await alert.waitFor()
  await page.getByText('No servers yet. Click "Start Server" to launch one.').waitFor()
  await page.getByRole('button', { name: 'Start Server' }).click()
  await page.getByText('Failed to check availability: You seem to be offline.').waitFor()
  await alert.getByRole('button', { name: 'Retry' }).click()
  await alert.waitFor()

  await context.setOffline(false)
  await page.getByText('Live', { exact: true }).waitFor()
  await alert.waitFor({ state: 'detached' })
  await context.close()
})

test('a tab replaced by newer ones says so, keeps polling, and goes live again once viewed', async () => {
  const person = await newPerson(url)
  const page = await pageOf(browser, url, person)
  await page.goto(`${url}/dashboard`)
  await page.getByText('Live', { exact: true }).waitFor()
  const others = await Promise.all(Array.from({ length: 20 }, () => openSocket(person)))
  await page.getByText('Live updates are off in this tab. Updating every 10 s.').waitFor()
  await person.post('/api/v1/aws/auto_cloud_start_request')
  await page.getByRole('row').filter({ hasText: 'running' }).waitFor()
  for (const other of others) other.socket.close()

  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await page.getByText('Live', { exact: true }).waitFor()
  await page.context().close()
})

test('a running server: its meter and the trial count each second, its address can be copied, and it stops once', async () => {
  const { page, context } = await openDashboard()
  const complaints = complaintsOf(page)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByText('Free in your trial. You need no card.').waitFor()
  await page.getByRole('button', { name: 'Start Server' }).click()
  await page.getByRole('cell', { name: /^[2-9]s ?free trial$/ }).waitFor()
  await page.getByText('One server at a time').waitFor()
  // The data is read every 30 s, but the banner ticks each second in between.
  const minutes = async () => Number(await page.getByText('minutes left').locator('strong').textContent())
  // Both count by the browser's seconds, which may begin at different moments.
  await expect.poll(minutes).toBeLessThan(30)
  const before = await minutes()
  await expect.poll(minutes).toBeLessThan(before)
  const started = page.getByRole('row').filter({ hasText: 'running' }).locator('time')
  const at = new Date((await started.getAttribute('datetime')) ?? '')
  const local = at.toLocaleString('en-US', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'America/New_York' })
  expect(await started.textContent()).toBe(local.replace('\u202f', ' '))
  expect(await started.getAttribute('title')).toMatch(/ UTC$/)

  const copy = page.getByRole('button', { name: /^Copy 127\./ })
  await copy.click()
  await page.getByRole('status').filter({ hasText: 'Address copied.' }).waitFor()
  expect(`Copy ${await page.evaluate(() => navigator.clipboard.readText())}`).toBe(
    await copy.getAttribute('aria-label'),
  )

  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new DOMException('Write permission denied.'))
  })
  await copy.click()
  await page.getByRole('status').filter({ hasText: "Couldn't copy the address." }).waitFor()
  expect(complaints).toEqual([])

  const stops: string[] = []
  page.on('request', (request) => request.url().endsWith('/stop_server') && stops.push(request.url()))
  await page.getByRole('button', { name: /^Stop ses_/ }).click()
  await page.getByRole('button', { name: 'Stop server' }).dblclick()
  await page
    .locator('main')
    .getByText(/^Server stopped\./)
    .first()
    .waitFor()
  expect(stops).toHaveLength(1)
  await context.close()
})

test('a full fleet: says how many places were checked, when to try again, and whom to contact', async () => {
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
  await expect.poll(() => again.textContent()).toBe('Try again')
  expect(await page.getByRole('button', { name: 'Request More Servers' }).isDisabled()).toBe(true)

  await page.unroute('**/api/v1/aws/server_available')
  await again.click()
  await page.getByText('provisioning').waitFor()
  expect(await again.count()).toBe(0)
  await context.close()
})

test('a tap before the script has loaded counts, once', async () => {
  const page = await pageOf(browser, url, await newPerson(url))
  let release: () => void = () => {}
  const held = new Promise<void>((go) => {
    release = go
  })
  await page.route('**/*.js', async (route) => {
    await held
    await route.continue()
  })
  const starts: string[] = []
  page.on('request', (request) => request.url().endsWith('/auto_cloud_start_request') && starts.push(request.url()))
  await page.goto(`${url}/dashboard`, { waitUntil: 'commit' })
  await page.getByRole('button', { name: 'Start Server' }).click()
  await page.getByText('provisioning').waitFor()
  release()
  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByText('running', { exact: true }).waitFor()
  expect(starts).toHaveLength(1)
  // More scripts may be on their way.
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.context().close()
})

test('makes no calls after sign-out', async () => {
  const { page, context } = await openDashboard()
  // The response never arrives, so there is time for a poll.
  await page.evaluate(() => document.addEventListener('submit', (event) => event.preventDefault()))
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  const pollNow = () => page.evaluate(() => window.dispatchEvent(new Event('online')))
  await pollNow()
  await expect.poll(() => asked.length).toBeGreaterThan(0)
  await page.getByRole('button', { name: /^Hi / }).click()
  await page.getByRole('button', { name: 'Sign Out' }).click()
  asked.length = 0
  await pollNow()
  await page.evaluate(() => new Promise((later) => setTimeout(later, 300)))
  expect(asked.filter((url) => url.includes('/api/'))).toEqual([])
  await context.close()
})
