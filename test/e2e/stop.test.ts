import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { axeFaults } from '../../testing/browser/axe.ts'
import {
  complaintsOf,
  confirmStop,
  DESK,
  hold,
  openWithServer,
  PHONE,
  stackAndBrowser,
} from '../../testing/browser/e2e.ts'
import { serversOf } from '../../testing/people/client.ts'

const world = stackAndBrowser({ ec2BootMs: 1500 })

test('Stop asks once, and returns the focus if the answer is no', async () => {
  const { page, card } = await openWithServer(world, DESK)
  const stops: string[] = []
  page.on('request', (request) => request.url().endsWith('/stop_server') && stops.push(request.url()))
  const stop = card.getByRole('button', { name: 'Stop', exact: true })
  await card.getByRole('link', { name: 'Open simulator' }).waitFor()
  const question = page.getByRole('dialog', {
    name: 'Stop this server?',
    description:
      /^It has run for \d+s of your free trial\. ?Everything outside \/data is deleted\. Files in \/data stay\./,
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

  const end = hold(world)
  await stop.click()
  await confirmStop(page)
  await page.locator('main').getByText('Stopping server...').waitFor()
  end.release()
  const row = page.getByRole('row').filter({ hasText: 'stopped' })
  await row.getByText('Ended by you').waitFor()
  await row.getByText('$0.00').waitFor()
  expect(stops).toHaveLength(1)
  await page.context().close()
})

test('a start is cancelled without a question, and its row keeps its date', async () => {
  const boot = hold(world)
  const { page, card } = await openWithServer(world, DESK)
  await card.getByRole('button', { name: 'Cancel', exact: true }).click()
  boot.release()
  const row = page.getByRole('row').filter({ hasText: 'stopped' })
  await row.getByText('Cancelled by you').waitFor()
  expect(await row.locator('time').getAttribute('datetime')).toMatch(/^20\d\d-/)
  await page.context().close()
})

test('without scripts, Stop opens a page that asks, or the dashboard if there is nothing left to stop', async () => {
  const { page, card, person } = await openWithServer(world, { javaScriptEnabled: false })
  const stop = card.getByRole('button', { name: 'Stop', exact: true })
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click()
      return stop.isVisible()
    })
    .toBe(true)
  await stop.click()
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/stop_server')
  await page.getByRole('heading', { name: 'Stop this server?' }).waitFor()
  await page.getByText('Everything outside /data is deleted.').waitFor()
  await page.getByRole('link', { name: 'Keep running' }).click()
  await card.waitFor()
  await page.goto(`${world.url}/stop_server`)
  const end = hold(world)
  await page.getByRole('button', { name: 'Stop server' }).click()
  await page.getByText('Stopping server...').waitFor()
  end.release()
  await page.goto(`${world.url}/stop_server`)
  expect(new URL(page.url()).pathname).toBe('/dashboard')
  expect(await serversOf(person)).toHaveLength(1)
  await page.context().close()
})

test('the simulator page says when its server is gone', async () => {
  const { page, card } = await openWithServer(world, DESK)
  const link = card.getByRole('link', { name: 'Open simulator' })
  await link.waitFor()
  const [simulator] = await Promise.all([page.context().waitForEvent('page'), link.click()])
  await simulator.getByRole('heading').waitFor()
  expect(await simulator.getByRole('alert').textContent()).toBe('')
  await card.getByRole('button', { name: 'Stop', exact: true }).click()
  await confirmStop(page)
  await simulator.getByRole('alert').getByText('This server is gone').waitFor()
  expect(await simulator.getByRole('link', { name: 'Your dashboard' }).getAttribute('href')).toBe(
    `${world.url}/dashboard`,
  )
  await page.context().close()
})

test('the simulator flies, drives, replays, reads its telemetry, and links to Stop', async () => {
  const { page, card } = await openWithServer(world, { ...PHONE, reducedMotion: 'reduce', acceptDownloads: true })
  const address = await card.getByRole('link', { name: 'Open simulator' }).getAttribute('href')
  const complaints = complaintsOf(page)
  await page.goto(address ?? '')
  await page.getByRole('heading', { name: /ses_/ }).waitFor()
  await page.getByText('1 × L4, 16 CPU, 64 GB').waitFor()
  const speed = () => page.locator('#speed').textContent()
  // Reduced motion: nothing moves before you do.
  expect(await page.getByRole('button', { name: 'Autopilot' }).getAttribute('aria-pressed')).toBe('false')
  expect(await speed()).toBe('0.0 m/s')

  await page.keyboard.down('KeyW')
  await expect.poll(speed).not.toBe('0.0 m/s')
  await page.keyboard.up('KeyW')
  await page.getByRole('button', { name: 'Read telemetry' }).click()
  await page
    .getByRole('status')
    .getByText(/^Gate 1 of \d+: \d+ meters, .* Speed \d/)
    .waitFor()

  await page.getByRole('radio', { name: 'Mountains' }).check({ force: true })
  await page.getByRole('radio', { name: 'UGV' }).check({ force: true })
  await page.getByRole('application', { name: 'Flight view: a UGV in Mountains' }).waitFor()
  const forward = page.getByRole('button', { name: /^Forward/ })
  await forward.focus()
  await page.keyboard.down('Enter')
  await expect.poll(speed).not.toBe('0.0 m/s')
  await page.keyboard.up('Enter')

  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByRole('slider', { name: 'Replay' }).fill('10')
  await page.getByText(/^0:00\.08 of 0:/).waitFor()
  for (const theme of ['light', 'dark'] as const)
    for (const width of [320, 390, 1280]) {
      await page.emulateMedia({ colorScheme: theme })
      await page.setViewportSize({ width, height: 800 })
      expect(await axeFaults(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
    }
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Flight as CSV' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('mountains-ugv-flight.csv')
  expect(readFileSync(await download.path(), 'utf8')).toMatch(/^time_s,x_m,.*\r\n0\.000,/)

  await page.getByRole('link', { name: 'Stop', exact: true }).click()
  await page.getByRole('heading', { name: 'Stop this server?' }).waitFor()
  expect(complaints).toEqual([])
  await page.context().close()
})
