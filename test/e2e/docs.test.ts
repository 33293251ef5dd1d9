import { expect, inject, test } from 'vitest'
import { complaintsOf, DESK, ownBrowser, PHONE } from '../../testing/browser/e2e.ts'
import { waitFor } from '../../testing/people/client.ts'

const url = inject('url')
const browser = await ownBrowser()

test('the search loads with its first focus, works by keyboard and offline, and says what it found', async () => {
  const page = await browser.newPage(DESK)
  const complaints = complaintsOf(page)
  const loaded: string[] = []
  page.on('request', (request) => loaded.push(new URL(request.url()).pathname))
  await page.goto(`${url}/docs`, { waitUntil: 'networkidle' })
  const isPart = (path: string) => path.includes('suggestions') || path.includes('docs-search')
  expect(loaded.filter(isPart)).toEqual([])

  const read = page.waitForResponse('**/texts/docs-search.txt')
  await page.getByRole('textbox', { name: 'Search the documentation' }).focus()
  const field = page.getByRole('combobox', { name: 'Search the documentation' })
  await field.waitFor()
  await (await read).finished()
  await page.context().setOffline(true)
  expect([await field.inputValue(), await field.getAttribute('aria-expanded')]).toEqual(['', 'false'])
  await page.keyboard.type('idle serv')
  const options = page.getByRole('option')
  await options.first().waitFor()
  expect(await page.locator('#live').textContent()).toBe(`${await options.count()} suggestions`)
  expect([await field.getAttribute('aria-expanded'), await field.getAttribute('aria-activedescendant')]).toEqual([
    'true',
    null,
  ])

  await page.keyboard.press('ArrowUp')
  expect(await options.last().getAttribute('aria-selected')).toBe('true')
  await page.keyboard.press('ArrowDown')
  const first = options.first()
  expect([await first.getAttribute('aria-selected'), await field.getAttribute('aria-activedescendant')]).toEqual([
    'true',
    await first.getAttribute('id'),
  ])
  expect(await first.innerText()).toContain('Idle servers')
  await page.keyboard.press('Escape')
  expect([await options.first().isVisible(), await field.inputValue()]).toEqual([false, 'idle serv'])

  await page.context().setOffline(false)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/images#idle')
  expect(complaints).toEqual([])
})

test('the search tries again with the next focus after it failed to load', async () => {
  const page = await browser.newPage(DESK)
  await page.route('**/texts/docs-search.txt', (route) => route.abort(), { times: 1 })
  await page.goto(`${url}/docs`)
  const field = page.locator('[name=q]')
  const failed = page.waitForEvent('requestfailed')
  await field.focus()
  await failed
  await waitFor(async () => {
    await field.blur()
    await field.focus()
    return (await field.getAttribute('role')) === 'combobox'
  })
})

test('without script, the search answers with a page', async () => {
  const page = await browser.newPage({ ...PHONE, javaScriptEnabled: false })
  await page.goto(`${url}/docs/billing`)
  await page.getByRole('textbox', { name: 'Search the documentation' }).fill('webhook secret')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/search?q=webhook+secret')
  await page.getByRole('link', { name: 'Replacing the secret' }).click()
  await page.waitForURL('**/docs/events#secrets')
  await page.goto(`${url}/docs/search?q=${encodeURIComponent('<b>xyzzy')}`)
  expect(await page.locator('main').innerText()).toContain('Search: <b>xyzzy\n\nNothing matches.')
  await page.goto(`${url}/docs/search`)
  expect(await page.locator('main article').innerText()).toBe('Search\n\nType what you are looking for.')
})

test('a page’s contents stand at its right, and on a phone they unfold above it', async () => {
  const desk = await browser.newPage(DESK)
  await desk.goto(`${url}/docs/images`)
  const contents = (page: typeof desk) => page.getByRole('navigation', { name: 'On this page' })
  const [toc, text] = await Promise.all([contents(desk).boundingBox(), desk.locator('article').boundingBox()])
  expect(toc?.x).toBeGreaterThan((text?.x ?? 0) + (text?.width ?? 0))
  await desk.getByRole('link', { name: 'Next: Ports' }).click()
  await desk.waitForURL('**/docs/ports')
  expect(await desk.getByRole('link', { name: 'Previous: Servers' }).isVisible()).toBe(true)

  const phone = await browser.newPage({ ...PHONE, javaScriptEnabled: false })
  await phone.goto(`${url}/docs/images`)
  expect(await contents(phone).count()).toBe(0)
  await phone.getByText('On this page').click()
  await contents(phone).getByRole('link', { name: 'Idle servers' }).click()
  await phone.waitForURL('**#idle')
})
