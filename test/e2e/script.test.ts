import { expect, inject, test } from 'vitest'
import { complaintsOf, ownBrowser, untilHydrated } from '../../testing/browser/e2e.ts'

const url = inject('url')
const browser = await ownBrowser()

test.each([
  ['/', 'public'],
  ['/pricing', 'public'],
  ['/contact_sales', 'public'],
  ['/sign_in', 'client'],
  ['/sign_up', 'client'],
  ['/no-such-page', 'public'],
])('%s loads all its scripts with the page, each once, and starts with one: %s', async (path, first) => {
  const page = await browser.newPage()
  const complaints = complaintsOf(page)
  await page.goto(url + path)
  await untilHydrated(page)
  // A request becomes an entry only after its response.
  await page.waitForFunction(() => performance.getEntriesByType('resource').some(({ name }) => name.endsWith('.js')))
  const scripts = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .flatMap(({ name }) => (name.endsWith('.js') ? new URL(name).pathname : [])),
  )
  const entries = scripts.flatMap((script) => /^\/assets\/(public|client)-/.exec(script)?.[1] ?? [])
  expect(entries).toEqual([first])
  // The hero's workers load its stage again, so we count only the scripts that the page names.
  const named = await page
    .locator('script[src], link[rel=modulepreload]')
    .evaluateAll((all) => all.map((element) => element.getAttribute('src') ?? element.getAttribute('href') ?? ''))
  expect(named.map((name) => scripts.filter((script) => script === name).length)).toEqual(named.map(() => 1))
  expect(complaints.filter((complaint) => !complaint.includes('404'))).toEqual([])
})

test('a text page has no script', async () => {
  const html = await (await fetch(`${url}/terms_of_service`)).text()
  expect(html).not.toMatch(/<script [^>]*src|modulepreload|<iframe/)
})

test('a form sent before its island hydrates is a plain form, answered with a page', async () => {
  const page = await browser.newPage()
  const { promise: pressed, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/assets/client-*.js', async (route) => {
    await pressed
    await route.continue()
  })
  await page.goto(`${url}/sign_in`, { waitUntil: 'commit' })
  await page.getByLabel('Email').fill('nobody@example.com')
  await page.getByLabel('Password', { exact: true }).fill('a wrong password')
  const answered = page.waitForResponse('**/users/sign_in')
  await page.getByRole('button', { name: 'Sign In', exact: true }).click()
  expect((await answered).status()).toBe(303)
  release()
  await page.getByText('Invalid email or password.').waitFor()
  await untilHydrated(page)
  expect(await page.getByLabel('Email').inputValue()).toBe('nobody@example.com')
})

test('an async script that loads before the end of the page still hydrates all of it', async () => {
  const page = await browser.newPage()
  await page.goto(`${url}/sign_in`)
  await untilHydrated(page)
  // From here on, every script comes from the browser's cache.
  for (let time = 0; time < 5; time++) {
    await page.reload()
    await untilHydrated(page)
  }
})
