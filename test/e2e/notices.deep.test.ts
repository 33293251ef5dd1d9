import { expect, test } from 'vitest'
import { axeFaults } from '../../testing/browser/axe.ts'
import { complaintsOf, pageOf, stackAndBrowser } from '../../testing/browser/e2e.ts'
import { type Client, newPerson, serversOf, waitFor } from '../../testing/people/client.ts'

const world = stackAndBrowser()
const isRunning = (person: Client) => async () => (await serversOf(person))[0]?.billed_from
const advance = (seconds: number) =>
  fetch(`${world.url}/dev/clock`, { method: 'POST', body: JSON.stringify({ advance_seconds: seconds }) })

const BANNER = /^Your server stops in [\d:]+\. Its disk is then erased\.$/

test('a warning reaches every open page; reading it on one reads it on all; one click moves the end', async () => {
  const person = await newPerson(world.url)
  await person.post('/api/v1/aws/auto_cloud_start_request', { stop_after: 1200 })
  await waitFor(isRunning(person))

  const page = await pageOf(world.browser, world.url, person)
  const complaints = complaintsOf(page)
  const other = await page.context().newPage()
  const listening = [page, other].map((one) => one.waitForRequest(/notices.latest/))
  await page.goto(`${world.url}/devices`)
  await other.goto(`${world.url}/pricing`)
  await Promise.all(listening)
  const bell = page.getByRole('link', { name: /^Notices/ })

  await advance(660)
  for (const one of [page, other]) {
    await one.getByText(BANNER).waitFor()
    await one.getByRole('link', { name: 'Notices, 1 unread' }).waitFor()
    await expect.poll(() => one.title()).toMatch(/^0?[6-9]:\d\d left · \(1\) /)
  }
  expect(await axeFaults(page)).toEqual([])
  const looked = page.waitForResponse(/notices.latest/)
  // What is printed isn't named after a moment, even if news comes meanwhile.
  expect(
    await page.evaluate(() => {
      dispatchEvent(new Event('beforeprint'))
      document.dispatchEvent(new Event('cable'))
      return document.title
    }),
  ).toBe('Signed-in devices · Proving Ground')
  await looked
  expect(await page.title()).not.toContain('(1)')
  await page.evaluate(() => dispatchEvent(new Event('afterprint')))
  await expect.poll(() => page.title()).toMatch(/left · \(1\) /)

  await bell.click()
  const list = page.getByRole('region', { name: 'Latest notices' })
  await list.getByText(/^Your server stops in \d+ minutes$/).waitFor()
  expect(await bell.getAttribute('aria-expanded')).toBe('true')
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'hidden' })
  expect(page.url()).toBe(`${world.url}/devices`)

  // What was listed when it opened is read, here and elsewhere.
  for (const one of [page, other]) {
    await one.getByRole('link', { name: 'Notices', exact: true }).waitFor()
    await expect.poll(() => one.title()).not.toContain('(1)')
  }

  // The trial has less than an hour left.
  const left = await page.evaluate(() => performance.timeOrigin)
  await page.getByRole('button', { name: /^Add \d+ minutes$/ }).click()
  await page.getByText(BANNER).waitFor({ state: 'detached' })
  await page.getByRole('main').getByText('Saved. Your server keeps running.').waitFor()
  // The page stayed: a form on it keeps what was typed.
  expect(await page.evaluate(() => performance.timeOrigin)).toBe(left)
  await other.getByText(BANNER).waitFor({ state: 'detached' })
  expect(await other.title()).not.toContain('left')
  expect(complaints).toEqual([])
  await page.context().close()
})

test('without script, the bell leads to all notices, and a form marks them as read', async () => {
  const person = await newPerson(world.url)
  await person.post('/api/v1/aws/auto_cloud_start_request', { stop_after: 1200 })
  await waitFor(isRunning(person))
  await advance(1300)
  await waitFor(async () => (await person.get<{ unread: number }>('/api/v1/notices')).body.unread > 0)
  const page = await pageOf(world.browser, world.url, person, { javaScriptEnabled: false })
  await page.goto(`${world.url}/billing_history`)
  await page.getByRole('link', { name: /^Notices, \d unread$/ }).click()
  await page.getByText('Your server stopped as scheduled').waitFor()
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await page.getByText('All notices marked as read.').waitFor()
  expect(await page.getByRole('button', { name: 'Mark all as read' }).count()).toBe(0)
  await page.context().close()
})
