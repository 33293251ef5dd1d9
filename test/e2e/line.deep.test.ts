import { expect, test } from 'vitest'
import { pageOf, stackAndBrowser, untilHydrated } from '../../testing/browser/e2e.ts'
import { newPerson, serversOf, stopServer, waitFor } from '../../testing/people/client.ts'

const world = stackAndBrowser({ fleetSize: 1 })

test('three people line up, and each gets a server in order, or leaves', async () => {
  const { url, browser } = world
  const [owner, ada, ben, cleo] = await Promise.all(['Owner', 'Ada', 'Ben', 'Cleo'].map((name) => newPerson(url, name)))
  if (!owner || !ada || !ben || !cleo) throw new Error('Somebody is missing.')
  const start = (person: typeof owner) => person.post('/api/v1/aws/auto_cloud_start_request')
  expect((await start(owner)).status).toBe(202)

  // Ada presses Start, finds no server, and lines up: ours will start it.
  const adas = await pageOf(browser, url, ada)
  await adas.goto(`${url}/dashboard`)
  await untilHydrated(adas)
  await adas.getByRole('button', { name: 'Start Server' }).first().click()
  await adas.getByRole('link', { name: 'Wait in line' }).click()
  await adas.waitForURL(/\/line/)
  await untilHydrated(adas)
  // In a trial, a server is held first: its minutes start when its user does.
  await adas.getByLabel('Start it for me').check()
  await adas.getByRole('button', { name: 'Wait in line' }).click()
  await adas.getByText('You’re next').waitFor()

  // Ben and Cleo only want it held.
  const line = async (person: typeof owner) => {
    const page = await pageOf(browser, url, person)
    await page.goto(`${url}/line`)
    await untilHydrated(page)
    await page.getByLabel('Hold it for me').check()
    await page.getByRole('button', { name: 'Wait in line' }).click()
    await page.getByText('ahead of you').waitFor()
    return page
  }
  const [bens, cleos] = [await line(ben), await line(cleo)]
  await cleos.getByText('2 people are ahead of you').waitFor()

  await stopServer(owner)
  await waitFor(async () => (await serversOf(ada)).length > 0)
  await adas.getByText('You have a server.').waitFor()
  expect(await serversOf(ben)).toEqual([])
  await cleos.getByText('1 person is ahead of you').waitFor()
  await cleos.getByRole('button', { name: 'Leave the line' }).click()
  await cleos.getByRole('button', { name: 'Wait in line' }).waitFor()
  // How many waited when the page loaded says nothing now.
  expect(await cleos.getByText(/(person|people) waits?/i).count()).toBe(0)

  await stopServer(ada)
  await bens.getByRole('heading', { name: 'A server is yours' }).waitFor()
  // On a phone, the time that is left stays on one line.
  await bens.setViewportSize({ width: 390, height: 780 })
  expect((await bens.locator('.line-place strong').boundingBox())?.height).toBeLessThan(90)
  await expect.poll(() => bens.title()).toMatch(/^\d+:\d\d left/)
  // The place is Ben's, however fast others click.
  expect((await start(cleo)).status).toBe(503)
  const other = await bens.context().newPage()
  await other.goto(`${url}/line`)
  await untilHydrated(other)
  await other.getByRole('heading', { name: 'A server is yours' }).waitFor()
  // It polls, but only once a minute.
  await other.route('**/api/v1/line', (route) => route.abort())
  await bens.getByRole('button', { name: 'Start Server' }).click()
  await bens.waitForURL(/dashboard/)
  // The other tab stops counting down at once.
  await other.getByText('You have a server.').waitFor()
  await expect.poll(() => other.title()).not.toContain('left')
  await waitFor(async () => (await serversOf(ben)).some(({ active }) => active))
  await stopServer(ben)
  await other.getByRole('button', { name: 'Wait in line' }).or(other.getByText('A server is free')).waitFor()
})
