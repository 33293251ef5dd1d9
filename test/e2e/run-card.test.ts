import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeFaults } from '../../testing/browser/axe.ts'
import { confirmStop, pageOf, stackAndBrowser } from '../../testing/browser/e2e.ts'
import { newPerson } from '../../testing/people/client.ts'

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
const DESK = { viewport: { width: 1280, height: 800 } }
const LONG = { timeout: 50_000 }
const world = stackAndBrowser({ ec2BootMs: 1500 })

const cardOf = (page: Page) => page.getByRole('region', { name: /^Server (starting|running|stopping)$/ })

/** The dashboard of a new person on a trial, with a server they have just requested. */
async function openWithServer(options: BrowserContextOptions) {
  const person = await newPerson(world.url)
  await person.post('/api/v1/aws/auto_cloud_start_request')
  const page = await pageOf(world.browser, world.url, person, options)
  await page.goto(`${world.url}/dashboard`)
  return { page, person, card: cardOf(page) }
}

test.each([
  ['phone', PHONE],
  ['desktop', DESK],
] as const)('on a %s, the live server stands first, in the first screen, in every state', async (_, options) => {
  const { page, card } = await openWithServer(options)
  await card.getByRole('heading', { name: 'Server starting' }).waitFor()
  await card.getByText('Startup is free.').waitFor()
  await card.getByRole('button', { name: 'Cancel' }).waitFor()

  await card.getByRole('heading', { name: 'Server running' }).waitFor(LONG)
  await card.getByText('1 × L4, 16 CPU, 64 GB, us-east-1').waitFor()
  await card.getByText('free trial').waitFor()
  await card.getByRole('definition').filter({ hasText: '$0.00' }).waitFor()
  await expect.poll(() => card.getByText(/^\d+s$/).textContent(), LONG).not.toBe('0s')
  const link = card.getByRole('link', { name: 'Open simulator' })
  expect(await link.getAttribute('href')).toMatch(/^http:\/\/127\.[\d.]+:5173$/)

  const [box, rail] = [await card.boundingBox(), await page.locator('.rail').boundingBox()]
  const bottom = options === PHONE ? (rail?.y ?? 0) : options.viewport.height
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(bottom)
  const others = page.locator('.dashboard > :is(.alert, .grid, .card):not(.run), .notices .alert')
  for (const other of await others.all()) expect((await other.boundingBox())?.y).toBeGreaterThan(box?.y ?? 0)
  expect(await axeFaults(page)).toEqual([])

  await page.getByRole('button', { name: /^Stop ses_/ }).click()
  await confirmStop(page)
  await page.getByText('stopped', { exact: true }).waitFor(LONG)
  expect(await card.count()).toBe(0)
  await page.context().close()
})

test('on touch, every button and the menu are at least 44 px high and wide', async () => {
  const { page, card } = await openWithServer(PHONE)
  await card.getByRole('link', { name: 'Open simulator' }).waitFor(LONG)
  const small = await page.locator('.btn:visible, .btn-close:visible, .theme button:visible').evaluateAll((all) =>
    all
      .filter((button) => !button.classList.contains('visually-hidden'))
      .map((button) => ({ name: button.textContent, ...button.getBoundingClientRect().toJSON() }))
      .filter(({ width, height }) => width < 44 || height < 44)
      .map(({ name, width, height }) => `${name}: ${width} × ${height}`),
  )
  expect(small).toEqual([])
  await page.context().close()
})

test.each([
  ['phone', PHONE],
  ['desktop', DESK],
] as const)('on a %s, the row of a run that has ended shows no button', async (_, options) => {
  const { page } = await openWithServer(options)
  await page.getByRole('button', { name: /^Cancel the start of ses_/ }).click()
  const row = page.getByRole('row').filter({ hasText: 'stopped' })
  await row.waitFor(LONG)
  await row.scrollIntoViewIfNeeded()
  const onScreen = await row.locator('button').evaluateAll((buttons) =>
    buttons.filter((button) => {
      const { x, y, width, height } = button.getBoundingClientRect()
      return button.contains(document.elementFromPoint(x + width / 2, y + height / 2))
    }),
  )
  expect(onScreen).toEqual([])
  await page.context().close()
})

test('without scripts, the card shows the server as of the last load', async () => {
  const { page, card } = await openWithServer({ javaScriptEnabled: false })
  await card.getByRole('heading', { name: 'Server starting' }).waitFor()
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click()
      return card.getByRole('heading').textContent()
    }, LONG)
    .toBe('Server running')
  await card.getByText('1 × L4, 16 CPU, 64 GB').waitFor()
  const links = page.getByRole('link', { name: /^127\.|^Open simulator$/ })
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click()
      return links.count()
    }, LONG)
    .toBe(2)
  for (const link of await links.all()) expect(await link.getAttribute('href')).toMatch(/^http:\/\/127\..+:5173$/)
  await page.context().close()
})

test('Stop asks once, and gives the focus back if the answer is no', async () => {
  const { page, card } = await openWithServer(DESK)
  const stops: string[] = []
  page.on('request', (request) => request.url().endsWith('/stop_server') && stops.push(request.url()))
  const stop = card.getByRole('button', { name: 'Stop', exact: true })
  await card.getByRole('link', { name: 'Open simulator' }).waitFor(LONG)
  const question = page.getByRole('dialog', {
    name: 'Stop this server?',
    description: /^It has run for \d+s of your free trial\. ?Stopping erases its disk\./,
  })
  for (const no of [() => page.keyboard.press('Escape'), () => page.keyboard.press('Enter')]) {
    await stop.focus()
    await page.keyboard.press('Enter')
    await question.waitFor()
    expect(await page.locator(':focus').textContent()).toBe('Keep running')
    expect(await axeFaults(page)).toEqual([])
    await no()
    await question.waitFor({ state: 'detached' })
    expect(await page.locator(':focus').textContent()).toBe('Stop')
  }
  expect(stops).toEqual([])

  await stop.click()
  await confirmStop(page)
  await page.locator('main').getByText('Stopping server...').waitFor()
  const row = page.getByRole('row').filter({ hasText: 'stopped' })
  await row.getByText('Ended by you').waitFor(LONG)
  await row.getByText('$0.00').waitFor()
  expect(stops).toHaveLength(1)
  await page.context().close()
})

test('a start is cancelled without a question, and its row keeps its date', async () => {
  const { page, card } = await openWithServer(DESK)
  await card.getByRole('button', { name: 'Cancel', exact: true }).click()
  const row = page.getByRole('row').filter({ hasText: 'stopped' })
  await row.getByText('Cancelled by you').waitFor(LONG)
  expect(await row.locator('time').getAttribute('datetime')).toMatch(/^20\d\d-/)
  await page.context().close()
})

test('without scripts, Stop leads to a page that asks, and to the dashboard when nothing is left to stop', async () => {
  const { page, card, person } = await openWithServer({ javaScriptEnabled: false })
  const stop = card.getByRole('button', { name: 'Stop', exact: true })
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click()
      return stop.isVisible()
    }, LONG)
    .toBe(true)
  await stop.click()
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/stop_server')
  await page.getByRole('heading', { name: 'Stop this server?' }).waitFor()
  await page.getByText('Stopping erases its disk.').waitFor()
  await page.getByRole('link', { name: 'Keep running' }).click()
  await card.waitFor()
  await page.goto(`${world.url}/stop_server`)
  await page.getByRole('button', { name: 'Stop server' }).click()
  await page.getByText('Stopping server...').waitFor()
  await page.goto(`${world.url}/stop_server`)
  expect(new URL(page.url()).pathname).toBe('/dashboard')
  expect(
    (await person.get<{ servers: { stopping: boolean }[] }>('/api/v1/servers/get_servers')).body.servers,
  ).toHaveLength(1)
  await page.context().close()
})

/** Moves the whole stack ahead; the cron run handles what the move has made due. */
async function advance(seconds: number): Promise<void> {
  const post = (path: string, body: unknown) =>
    fetch(`${world.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  await post('/dev/clock', { advance_seconds: seconds })
  await post('/dev/cron', { cron: '* * * * *' })
}

test('the trial ends with notice: amber, red, the title and a clock count, a mail, and the reason stays', async () => {
  const { page, card, person } = await openWithServer(DESK)
  await card.getByRole('link', { name: 'Open simulator' }).waitFor(LONG)
  const banner = page.locator('.alert', { hasText: 'minutes left' })
  await banner.getByText(/^29:\d\d$/).waitFor()
  expect(await banner.getAttribute('class')).toContain('alert-info')
  expect(await page.title()).toBe('Dashboard · Proving Ground')
  const ahead = async (seconds: number) => {
    await advance(seconds)
    await page.getByRole('button', { name: 'Refresh' }).click()
  }

  await ahead(25 * 60)
  await page
    .locator('.alert-warning')
    .getByText(/^04:\d\d$/)
    .waitFor(LONG)
  await page.getByRole('status').filter({ hasText: 'Your free trial ends in 5 minutes.' }).waitFor()
  await expect.poll(() => page.title(), LONG).toMatch(/^04:\d\d left · Dashboard · Proving Ground$/)
  expect(await axeFaults(page)).toEqual([])
  await ahead(4 * 60)
  await page
    .locator('.alert-danger')
    .getByText(/^00:\d\d$/)
    .waitFor(LONG)
  await page.getByRole('status').filter({ hasText: 'Your free trial ends in 1 minute.' }).waitFor()
  const title = await page.title()
  await expect.poll(() => page.title(), LONG).not.toBe(title)
  expect(await axeFaults(page)).toEqual([])

  await ahead(60)
  await page.getByText('Your 30 free minutes are used up, so we stopped the server.').waitFor(LONG)
  const row = page.getByRole('row').filter({ hasText: 'stopped' })
  await row.getByText('Free minutes used up').waitFor(LONG)
  await expect.poll(() => page.title(), LONG).toBe('Dashboard · Proving Ground')
  const mails = async () => {
    const all: { to: string; subject: string }[] = await (await fetch(`${world.url}/dev/mailbox.json`)).json()
    return all.filter(({ to, subject }) => to === person.email && /free/.test(subject)).map(({ subject }) => subject)
  }
  await expect.poll(mails, LONG).toEqual(['Your free trial is over', '5 free minutes left'])
  await page.context().close()
})

test('the simulator page says when its server is gone', async () => {
  const { page, card } = await openWithServer(DESK)
  const link = card.getByRole('link', { name: 'Open simulator' })
  await link.waitFor(LONG)
  const [simulator] = await Promise.all([page.context().waitForEvent('page'), link.click()])
  await simulator.getByRole('heading').waitFor()
  expect(await simulator.getByRole('alert').textContent()).toBe('')
  await card.getByRole('button', { name: 'Stop', exact: true }).click()
  await confirmStop(page)
  await simulator.getByRole('alert').getByText('This server is gone').waitFor(LONG)
  await page.context().close()
})
