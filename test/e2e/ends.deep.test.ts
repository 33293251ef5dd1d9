import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { plans } from '../../db/schema/billing.ts'
import { costText } from '../../src/domain/money/money.ts'
import type { RunCostSum } from '../../src/domain/money/run-cost.ts'
import { formatUptime } from '../../src/domain/server.ts'
import type { ProviderRecord, RunEvent, Server } from '../../src/domain/wire/fleet.ts'
import { axeFaults } from '../../testing/browser/axe.ts'
import { advance, complaintsOf, pageOf, stackAndBrowser } from '../../testing/browser/e2e.ts'
import { mailedTo, newPerson, waitFor } from '../../testing/people/client.ts'
import { openTestDatabase } from '../../testing/stack/database.ts'

type Shown = { server: Server; events: RunEvent[]; cost: RunCostSum; provider: ProviderRecord | null }

const HOUR = 3_600_000
const CENTS_PER_SECOND = 0.04861
const world = stackAndBrowser()

test('started for an hour, warned, extended from the email, stopped at the new end, and right to the second', async () => {
  const ada = await newPerson(world.url)
  const db = openTestDatabase(world.stack.services.vars.LIBSQL_URL ?? '')
  // Without included hours, every second costs.
  await db.update(plans).set({ planType: 'basic', subType: 'paid', hours: 0 }).where(eq(plans.userId, ada.id))
  const page = await pageOf(world.browser, world.url, ada)
  const complaints = complaintsOf(page)
  await page.goto(`${world.url}/dashboard`)
  await page.getByLabel('Stop after').selectOption('1 h')
  await page.getByRole('button', { name: 'Start Server' }).click()
  const card = page.getByRole('region', { name: 'Server running' })
  await card.getByText(/^Stops at .*, in 1h 0m$/).waitFor()
  await card.getByText(/^\d+s$/).waitFor()

  // Its own page follows along in a second tab.
  const id = (await page.getByRole('rowheader').getByRole('link').first().getAttribute('href'))?.split('/').at(-1) ?? ''
  const own = await page.context().newPage()
  complaints.push(...complaintsOf(own))
  await own.goto(`${world.url}/servers/${id}`)
  let reloads = 0
  own.on('load', () => {
    reloads += 1
  })
  const happened = own.getByRole('list').filter({ hasText: 'Requested' })
  await happened.getByText('End set').waitFor()
  expect(await happened.getByText('Warned of the end').count()).toBe(0)
  await own.getByText('Name it').click()
  await own.getByLabel('Name of this server').fill('half typed')

  const ahead = async (seconds: number) => {
    await advance(world.url, seconds)
    await page.getByRole('button', { name: 'Refresh' }).click()
  }
  const countdown = page.getByText(/^Your server stops in \d\d:\d\d\./)
  await ahead(3000)
  await countdown.waitFor()
  await happened.getByText('Warned of the end').waitFor()
  const links = () => mailedTo(world.url, ada.email, /http\S+\/extend\?key=\S+/)
  const link = await waitFor(async () => (await links())[0])
  expect(await links()).toHaveLength(1)

  // The email opens in a browser where nobody is signed in. A scanner looked at it before.
  const before = (await ada.get<Shown>(`/api/v1/servers/${id}`)).body.server.ends_at
  await fetch(link)
  const phone = await world.browser.newPage({ viewport: { width: 360, height: 800 } })
  await phone.goto(link)
  expect((await ada.get<Shown>(`/api/v1/servers/${id}`)).body.server.ends_at).toBe(before)
  expect(await axeFaults(phone)).toEqual([])
  await phone.getByRole('button', { name: 'Add an hour' }).click()
  await phone.getByText('You have an hour more.').waitFor()
  await happened.getByText('By the link in our email.').waitFor()
  await card.getByText(/in 1h 10m$/).waitFor()
  expect(await countdown.count()).toBe(0)

  await ahead(3600)
  await countdown.waitFor()
  await expect.poll(links).toHaveLength(2)
  await ahead(600)
  await page
    .locator('main')
    .getByText(/^Server stopped as scheduled\./)
    .first()
    .waitFor()
  await own.getByRole('button', { name: 'Start again like this one' }).waitFor()
  expect(await own.getByLabel('Name of this server').inputValue()).toBe('half typed')
  expect(reloads).toBe(0)

  // Two hours from the click to the end, less the startup, which is free.
  const { server, events, cost, provider } = (await ada.get<Shown>(`/api/v1/servers/${id}`)).body
  const end = Date.parse(server.requested_at) + 2 * HOUR
  const seconds = Math.floor(end / 1000) - Math.ceil(Date.parse(server.billed_from ?? '') / 1000)
  expect([server.end_time, server.ended_because]).toEqual([new Date(end).toISOString(), 'time_up'])
  expect(cost).toEqual({
    seconds,
    included_seconds: 0,
    billed_seconds: seconds,
    dollars: Math.round(seconds * CENTS_PER_SECOND * 1e5) / 1e7,
  })
  expect(events.filter(({ what }) => what === 'warned')).toHaveLength(2)
  expect(events.filter(({ what }) => what === 'end_moved').map(({ detail }) => detail)).toEqual([
    expect.stringContaining('By the link in our email.'),
  ])
  expect(Date.parse(provider?.ended_at ?? '')).toBeGreaterThanOrEqual(Math.floor(end / 1000) * 1000)

  const used = formatUptime(seconds)
  const price = costText(cost.dollars)
  const receipt = `Server stopped as scheduled. You used ${used}: ${price}.`
  await page.locator('main').getByText(receipt).first().waitFor()
  const receiptCard = own.locator('#receipt')
  await receiptCard.getByText(receipt).waitFor()
  expect(await receiptCard.getByRole('row', { name: /^Total/ }).allInnerTexts()).toEqual([
    expect.stringContaining([seconds, 0, seconds].map((n) => n.toLocaleString('en-US')).join('\t')),
  ])
  await own.getByText(`${seconds.toLocaleString('en-US')} seconds`).waitFor()
  await phone.reload()
  await phone.getByText('This server has stopped, so this link no longer works.').waitFor()
  expect(complaints).toEqual([])
  await phone.context().close()
  await page.context().close()
})
