import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { freePort } from '../../dev/free-port.ts'
import { SEED_EMAILS, SEED_PASSWORD } from '../../dev/seed.ts'
import { DESK, pageOf, signInByHand, stackAndBrowser, untilHydrated } from '../../testing/browser/e2e.ts'
import { newPerson } from '../../testing/people/client.ts'
import { keepInstances, keepRuns } from '../../testing/stack/many-instances.ts'

const COUNT = 60
const A_PAGE = 50
const OWNED = 12
const now = Date.now()
const world = stackAndBrowser({
  webPort: await freePort(),
  prepare: (dataDir) => keepInstances(dataDir, COUNT, now),
})
beforeAll(() => keepRuns(world.stack.services.vars.LIBSQL_URL as string, OWNED, now))

async function openConsole(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await world.browser.newPage({ ...DESK, ...options })
  await signInByHand(page, world.url, { email: SEED_EMAILS.admin, password: SEED_PASSWORD })
  await page.goto(`${world.url}/console`)
  return page
}

const rows = (page: Page) => page.locator('tbody tr')
const column = (page: Page, n: number) => rows(page).locator(`:nth-child(${n})`)

test('the table sorts and filters instantly, and its address says how', async () => {
  const page = await openConsole()
  await page.getByRole('heading', { name: 'Console' }).waitFor()
  expect(await rows(page).count()).toBe(A_PAGE)
  expect(await page.getByRole('columnheader', { name: 'Launch Time' }).getAttribute('aria-sort')).toBe('descending')

  let loads = 0
  page.on('load', () => {
    loads += 1
  })
  await page.getByRole('link', { name: 'Instance ID' }).click()
  await expect.poll(() => new URL(page.url()).search).toBe('?sort=instance_id&order=asc')
  const all = Array.from({ length: COUNT }, (_, i) => `i-${(0x1000 + i).toString(16).padStart(17, '0')}`)
  const ids = () => column(page, 2).allTextContents()
  await expect.poll(ids).toEqual(all.slice(0, A_PAGE))
  await page.getByRole('link', { name: 'Next' }).click()
  await expect.poll(ids).toEqual(all.slice(A_PAGE))
  await page.getByText('Rows 51–60 of 60').waitFor()
  await page.getByRole('link', { name: 'Instance ID' }).click()
  await expect.poll(ids).toEqual(all.toReversed().slice(0, A_PAGE))

  // A tile is a filter, and shows as many rows as it says. Pressing it again removes the filter.
  const tile = page.getByRole('link', { name: /^Starting or stopping/ })
  const changing = Number((await tile.innerText()).match(/\d+/)?.[0])
  expect(changing).toBeGreaterThan(1)
  await tile.click()
  await expect.poll(() => rows(page).count()).toBe(changing)
  expect(await tile.getAttribute('aria-current')).toBe('true')
  await tile.click()
  await expect.poll(() => rows(page).count()).toBe(A_PAGE)

  await page.getByLabel('Filter').fill('pilot-3@ g6')
  await expect.poll(() => rows(page).count()).toBe(1)
  expect(await rows(page).first().textContent()).toContain('pilot-3@example.com')
  await page.getByText(`1 of ${COUNT}`).waitFor()
  await page.getByLabel('Filter').fill('zeppelin')
  await page.getByText('No instances match this filter.').waitFor()
  expect(loads).toBe(0)

  // The address alone restores the view.
  await page.getByLabel('Filter').fill('terminated')
  await expect.poll(() => page.url()).toContain('q=terminated')
  const states = async () => [...new Set(await column(page, 4).allTextContents())]
  await expect.poll(states).toEqual(['terminated'])
  const shown = await column(page, 2).allTextContents()
  expect(shown.length).toBeGreaterThan(1)
  await page.reload()
  expect(await column(page, 2).allTextContents()).toEqual(shown)

  // A row opens its run.
  await page.getByLabel('Filter').fill('pilot-3@ g6')
  await expect.poll(() => rows(page).count()).toBe(1)
  await rows(page).getByRole('rowheader').getByRole('link').click()
  await page.getByRole('heading', { name: 'Run ses_run-00003' }).waitFor()
  await page.getByText('pilot-3@example.com').waitFor()
  await page.context().close()
})

test('while the cloud is down, keeps the rows and shows the error, and the next poll recovers', async () => {
  const page = await openConsole()
  await page.clock.install()
  await page.reload()
  await untilHydrated(page)
  const label = page.getByText(/^Updated \d{1,2}:\d\d:\d\d/)
  await label.waitFor()
  const before = await label.textContent()
  const down = await page.route('**/api/v1/instances', (route) =>
    route.fulfill({ status: 503, json: { error: 'The cloud provider did not answer. Please try again in a moment.' } }),
  )
  await page.clock.runFor(61_000)
  await page.getByRole('alert').getByText('Error: HTTP 503').waitFor()
  await page.getByText('The cloud provider did not answer.').waitFor()
  expect(await rows(page).count()).toBe(A_PAGE)
  expect(await label.textContent()).toBe(before)

  await page.unroute('**/api/v1/instances')
  await page.route('**/api/v1/instances', (route) => route.abort())
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByText('Error: Failed to load').waitFor()
  await page.unroute('**/api/v1/instances')
  await page.clock.runFor(61_000)
  await page.getByRole('alert').waitFor({ state: 'detached' })
  await expect.poll(() => label.textContent()).not.toBe(before)
  await down.dispose()
  await page.context().close()
})

test('without scripts, the same table sorts and filters by links and a form, with times in UTC', async () => {
  const page = await openConsole({ javaScriptEnabled: false })
  await page.getByLabel('Filter').fill('running')
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.waitForURL('**q=running**')
  const running = await rows(page).count()
  expect(running).toBeGreaterThan(0)
  expect(running).toBeLessThan(COUNT)
  await page.getByRole('link', { name: 'Owner' }).click()
  await page.waitForURL('**sort=owner_email**')
  const owners = await column(page, 10).allTextContents()
  expect(owners).toHaveLength(running)
  expect(owners).toEqual([...owners].sort(new Intl.Collator('en', { numeric: true }).compare))
  await page.getByText(/^Updated \d\d:\d\d:\d\d UTC$/).waitFor()
  await page.context().close()
})

test("shows people's messages, in the reader’s time zone", async () => {
  const visitor = await world.browser.newPage()
  await visitor.goto(`${world.url}/contact_sales`)
  await visitor.getByLabel('Name').fill('Grace Hopper')
  await visitor.getByLabel('Email').fill('grace@example.com')
  await visitor.getByRole('combobox').selectOption('Referral')
  await visitor.getByRole('textbox', { name: 'Message' }).fill('Two rovers,\none swarm.')
  await visitor.getByRole('button', { name: /send/i }).click()
  await visitor.getByText('Thank you for contacting sales!').waitFor()

  const page = await openConsole({ timezoneId: 'Asia/Tokyo' })
  await page.getByRole('link', { name: 'Messages' }).click()
  const message = page.getByRole('article').filter({ hasText: 'Grace Hopper' })
  await message.getByText('Two rovers,').waitFor()
  await message.getByText('via Referral').waitFor()
  expect(await message.getByRole('link').getAttribute('href')).toBe('mailto:grace@example.com')
  const time = message.locator('time')
  const at = new Date((await time.getAttribute('datetime')) ?? '')
  const local = at.toLocaleString('en-US', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'Asia/Tokyo' })
  await expect.poll(() => time.textContent()).toBe(local.replace('\u202f', ' '))
  expect(await time.getAttribute('title')).toMatch(/ UTC$/)
})

test("a group's times are the operator's own, in its form as in its list", async () => {
  const page = await openConsole({ timezoneId: 'Asia/Tokyo' })
  await page.getByRole('link', { name: 'Line' }).click()
  await page.getByText('Hold servers for a group…').click()
  await page.getByLabel('Name', { exact: true }).fill('Night race')
  await page.getByLabel('Servers', { exact: true }).fill('1')
  const [day, next] = [60, 61].map((days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10))
  await page.getByLabel('From (your time)').fill(`${day}T08:30`)
  await page.getByLabel('Until (your time)').fill(`${next}T17:00`)
  await page.getByLabel('People', { exact: true }).fill('grace@example.com')
  await page.getByLabel('Reason').fill('A race')
  await page.getByLabel('Yes, I want this').check()
  await page.getByRole('button', { name: 'Hold the servers' }).click()
  const times = page.getByRole('row').filter({ hasText: 'Night race' }).locator('time')
  expect(await times.first().getAttribute('datetime')).toBe(`${new Date(`${day}T08:30+09:00`).toISOString()}`)
  await expect.poll(() => times.first().textContent()).toContain('8:30 AM')
  await page.getByRole('link', { name: 'Night race' }).click()
  await page.getByText('Change or extend it…').click()
  expect(await page.getByLabel('From (your time)').inputValue()).toBe(`${day}T08:30`)
})

test('an open dashboard shows at once that we suspended the account, and that we lifted it', async () => {
  const person = await newPerson(world.url)
  const theirs = await pageOf(world.browser, world.url, person)
  // A hidden page doesn't poll, so it can know only from the live connection.
  await theirs.addInitScript(() => Object.defineProperty(document, 'hidden', { get: () => true }))
  await theirs.goto(`${world.url}/dashboard`)
  await theirs.getByText('Live', { exact: true }).waitFor()
  const start = theirs.getByRole('button', { name: 'Start Server' })
  expect(await start.isEnabled()).toBe(true)

  const ours = await openConsole()
  for (const [act, button, enabled] of [
    ['Suspend…', 'Suspend', false],
    ['Lift the suspension…', 'Lift the suspension', true],
  ] as const) {
    await ours.goto(`${world.url}/admin/people/${person.id}`)
    const form = ours.locator('details.fold').filter({ hasText: act })
    await form.getByText(act, { exact: true }).click()
    await form.getByLabel('Reason').fill('They asked us to.')
    await form.getByLabel('Yes, I want this').check()
    await form.getByRole('button', { name: button, exact: true }).click()
    await expect.poll(() => start.isEnabled()).toBe(enabled)
    await expect.poll(() => theirs.locator('.page-flash').count()).toBe(enabled ? 0 : 1)
    await theirs.getByText('Live', { exact: true }).waitFor()
  }
  await theirs.context().close()
  await ours.context().close()
})
