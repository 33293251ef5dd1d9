import type { Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { clientFile } from '../../bench/built-files.ts'
import { ownBrowser, pageOf, untilHydrated } from '../../testing/browser/e2e.ts'
import { newPerson, PASSWORD } from '../../testing/people/client.ts'

/** Chunks that aren't there anymore, because a new version replaced them. */
const world = { url: inject('url'), browser: await ownBrowser() }

const FAILED = "This part of the page couldn't be loaded. Reload the page to use it."

const loses = (page: Page, chunk: RegExp) => page.route(chunk, (route) => route.fulfill({ status: 404, body: '' }))

test('an island that cannot be loaded says so; its form still works, and a reload brings it back', async () => {
  const person = await newPerson(world.url)
  const page = await world.browser.newPage()
  await loses(page, /assets\/SignInForm-/)
  await page.goto(`${world.url}/sign_in`)
  await page.getByText(FAILED).waitFor()
  await page.unroute(/assets\/SignInForm-/)
  await page.getByRole('button', { name: 'Reload' }).click()
  await untilHydrated(page)
  expect(await page.getByText(FAILED).count()).toBe(0)

  await loses(page, /assets\/SignInForm-/)
  await page.reload()
  await page.getByText(FAILED).waitFor()
  await page.getByLabel('Email').fill(person.email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign In', exact: true }).click()
  await page.waitForURL('**/dashboard')
})

test('the question before a stop cannot be loaded: a page asks instead', async () => {
  const person = await newPerson(world.url)
  await person.post('/api/v1/aws/auto_cloud_start_request')
  const page = await pageOf(world.browser, world.url, person)
  await loses(page, /assets\/StopDialog-/)
  await page.goto(`${world.url}/dashboard`)
  await page.getByRole('region', { name: 'Server running' }).getByRole('button', { name: 'Stop' }).click()
  await page.waitForURL('**/stop_server')
})

test('the preview of a file cannot be loaded: the list stays, and so does an upload', async () => {
  const person = await newPerson(world.url)
  const page = await pageOf(world.browser, world.url, person)
  await loses(page, /assets\/Preview-/)
  await page.goto(`${world.url}/files`)
  await untilHydrated(page)
  const upload = (name: string) =>
    page.getByLabel('Upload files').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from('words') })
  await upload('first.txt')
  await page.getByRole('row', { name: /first\.txt/ }).waitFor()

  // The second one is under way while the preview fails.
  const { promise: goOn, resolve: release } = Promise.withResolvers<void>()
  await page.route(/second\.txt/, async (route) => {
    await goOn
    await route.continue()
  })
  await upload('second.txt')
  await page.getByRole('button', { name: 'first.txt', exact: true }).click()
  await page.getByText(FAILED).waitFor()
  await page.getByRole('row', { name: /first\.txt/ }).waitFor()
  release()
  await page.getByRole('row', { name: /second\.txt/ }).waitFor()
})

test('the build has these chunks', () => {
  for (const name of ['SignInForm', 'dashboard/StopDialog', 'files/Preview'])
    expect(clientFile(`/manifest.json`).toString()).toContain(`src/islands/${name}.tsx`)
})
