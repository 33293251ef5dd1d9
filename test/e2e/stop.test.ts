import { expect, test } from 'vitest'
import { axeFaults } from '../../testing/browser/axe.ts'
import { confirmStop, openWithServer, stackAndBrowser } from '../../testing/browser/e2e.ts'

const DESK = { viewport: { width: 1280, height: 800 } }
const LONG = { timeout: 50_000 }
const world = stackAndBrowser({ ec2BootMs: 1500 })

test('Stop asks once, and gives the focus back if the answer is no', async () => {
  const { page, card } = await openWithServer(world, DESK)
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
  const { page, card } = await openWithServer(world, DESK)
  await card.getByRole('button', { name: 'Cancel', exact: true }).click()
  const row = page.getByRole('row').filter({ hasText: 'stopped' })
  await row.getByText('Cancelled by you').waitFor(LONG)
  expect(await row.locator('time').getAttribute('datetime')).toMatch(/^20\d\d-/)
  await page.context().close()
})

test('without scripts, Stop leads to a page that asks, and to the dashboard when nothing is left to stop', async () => {
  const { page, card, person } = await openWithServer(world, { javaScriptEnabled: false })
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

test('the simulator page says when its server is gone', async () => {
  const { page, card } = await openWithServer(world, DESK)
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
