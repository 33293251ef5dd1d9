import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeFaults } from '../../testing/browser/axe.ts'
import { pageOf, stackAndBrowser, stopServer, untilHydrated } from '../../testing/browser/e2e.ts'
import { newPerson } from '../../testing/people/client.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'

// Machines get files only where the door is the way to them.
const world = stackAndBrowser({ doorDomain: 'door.localhost' })

async function downloaded(page: Page, link: Locator): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), link.click()])
  return readFileSync(await download.path(), 'utf8')
}

test('a folder goes up, a server reads it and saves a recording, and both stay when it stops', async () => {
  const ada = await newPerson(world.url)
  const course = join(temporaryFolder('proving-ground-data'), 'course')
  mkdirSync(join(course, 'gates'), { recursive: true })
  writeFileSync(join(course, 'gates/بوابة 1.txt'), '4 m north\n')
  const page = await pageOf(world.browser, world.url, ada, { viewport: { width: 1280, height: 900 } })

  await page.goto(`${world.url}/files`)
  await untilHydrated(page)
  await page.getByLabel('Upload folder').setInputFiles(course)
  await page.getByRole('heading', { name: 'Uploaded 1 file' }).waitFor()

  await page.goto(`${world.url}/dashboard`)
  await untilHydrated(page)
  await page.getByRole('button', { name: 'Start Server' }).click()
  const card = page.getByRole('region', { name: 'Server running' })
  const link = card.getByRole('link', { name: 'Open simulator' })
  const [simulator] = await Promise.all([page.context().waitForEvent('page'), link.click()])
  // Its script names the view once it answers the buttons.
  await simulator.getByRole('application', { name: 'Flight view: a UAV in Blocks' }).waitFor()

  await simulator.getByRole('button', { name: 'Files' }).click()
  const data = (path: string) => simulator.getByRole('dialog', { name: `/data/${path}`, exact: true })
  await data('').getByRole('button', { name: 'course/' }).click()
  await data('course/').getByRole('button', { name: 'gates/' }).click()
  const gate = data('course/gates/').getByRole('link', { name: 'بوابة 1.txt' })
  // Its name runs its own way, and the size after it ours.
  expect(await gate.locator('bdi').textContent()).toBe('بوابة 1.txt')
  expect(await downloaded(simulator, gate)).toBe('4 m north\n')
  expect(await axeFaults(simulator)).toEqual([])
  await data('course/gates/').getByRole('button', { name: 'Close' }).click()

  await simulator.getByRole('button', { name: 'Save recording' }).click()
  const said = simulator.getByText(/^Saved \/data\/recordings\//)
  const [, name = ''] = /recordings\/(blocks-uav-.+\.csv)\./.exec((await said.textContent()) ?? '') ?? []
  await simulator.getByRole('button', { name: 'Files' }).click()
  await data('').getByRole('button', { name: 'recordings/' }).click()
  const recorded = await downloaded(simulator, data('recordings/').getByRole('link', { name }))
  expect(recorded).toMatch(/^time_s,/)

  await page.bringToFront()
  await stopServer(page, card)

  await page.goto(`${world.url}/files?path=recordings`)
  await untilHydrated(page)
  const row = page.getByRole('row').filter({ hasText: name })
  expect(await downloaded(page, row.getByRole('link', { name: /^Download/ }))).toBe(recorded)
  await page.context().close()
})
