import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { complaintsOf, ownBrowser, pageOf } from '../../testing/browser/e2e.ts'
import { newPerson } from '../../testing/people/client.ts'

const url = inject('url')
const browser = await ownBrowser()

const open = (options: BrowserContextOptions = {}) =>
  browser.newPage({ viewport: { width: 900, height: 500 }, ...options })
const themeOf = (page: Page) => page.locator('html').getAttribute('data-theme')
const scrolled = (page: Page) => page.evaluate(() => Math.round(scrollY))
const choice = (page: Page, name: string) => page.getByRole('contentinfo').getByRole('button', { name })

/** Resolves once the page's own script handles the switch. */
const awake = (page: Page) => page.waitForResponse(/\/assets\/every-page-/)

test('changes the theme in place: typed text and scroll position stay, and the choice is saved', async () => {
  const page = await open()
  const complaints = complaintsOf(page)
  await Promise.all([awake(page), page.goto(`${url}/contact_sales`)])
  await page.getByLabel('Message').fill('Twelve rovers in the rain.')
  await choice(page, 'Light theme').scrollIntoViewIfNeeded()
  const place = await scrolled(page)
  expect(place).toBeGreaterThan(100)

  await Promise.all([page.waitForResponse(`${url}/theme`), choice(page, 'Light theme').click()])
  expect(await themeOf(page)).toBe('light')
  expect(await choice(page, 'Light theme').getAttribute('aria-pressed')).toBe('true')
  expect(await choice(page, 'Dark theme').getAttribute('aria-pressed')).toBe('false')
  expect(await page.locator('meta[name="theme-color"][media="all"]').getAttribute('content')).toBe('#f7f9f9')
  expect(await page.getByLabel('Message').inputValue()).toBe('Twelve rovers in the rain.')
  expect(await scrolled(page)).toBe(place)

  await page.goto(`${url}/pricing`)
  expect(await themeOf(page)).toBe('light')
  expect(complaints).toEqual([])
})

test('both switches of a signed-in person agree', async () => {
  const page = await pageOf(browser, url, await newPerson(url), { viewport: { width: 600, height: 800 } })
  await Promise.all([awake(page), page.goto(`${url}/dashboard`)])
  await choice(page, 'Dark theme').click()
  const pressed = page.locator('.theme button[aria-pressed="true"]')
  expect(await pressed.evaluateAll((buttons) => buttons.map((button) => (button as HTMLButtonElement).value))).toEqual([
    'dark',
    'dark',
  ])
})

test('does not show a choice that could not be saved', async () => {
  const page = await open()
  await Promise.all([awake(page), page.goto(`${url}/sign_in`)])
  await page.route('**/theme', (route) => route.abort())
  const seen = page.evaluate(
    () =>
      new Promise((light) =>
        document.addEventListener('themechange', () => light(document.documentElement.dataset.theme), { once: true }),
      ),
  )
  await choice(page, 'Light theme').click()
  expect(await seen).toBe('light')
  await expect.poll(() => themeOf(page)).toBe('system')
})

/** In the page: the canvas has its size, has heard that it is in view, and has painted since. */
async function atRest() {
  const canvas = document.querySelector('.hero canvas') as HTMLCanvasElement
  await document.fonts.ready
  // Observers hear in the order in which they began to look: the page's own have heard by now.
  await new Promise((heard) => new ResizeObserver(heard).observe(canvas))
  await new Promise((heard) => new IntersectionObserver(heard).observe(canvas))
  for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame)
}

/** What the canvas itself painted, without the page behind it. */
const painted = (page: Page) =>
  page.evaluate(() => {
    const canvas = document.querySelector('.hero canvas') as HTMLCanvasElement
    const copy = Object.assign(document.createElement('canvas'), { width: canvas.width, height: canvas.height })
    copy.getContext('2d')?.drawImage(canvas, 0, 0)
    return copy.toDataURL()
  })

test('visitors see their system’s theme, and the canvas follows a choice, even while it rests', async () => {
  const page = await open({ reducedMotion: 'reduce', colorScheme: 'dark' })
  await page.goto(url)
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
  const dark = await background()
  await page.emulateMedia({ colorScheme: 'light' })
  expect(await background()).not.toBe(dark)
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await background()).toBe(dark)
  await page.locator('.hero.is-live').waitFor()
  await page.evaluate(atRest)
  const inTheDark = await painted(page)
  expect(inTheDark.length).toBeGreaterThan(2_000)
  await page.evaluate(() => {
    document.documentElement.dataset.theme = 'light'
  })
  expect(await painted(page)).toBe(inTheDark)
  await page.evaluate(() => document.dispatchEvent(new Event('themechange')))
  await expect.poll(() => painted(page)).not.toBe(inTheDark)
})

test('without a script, the page reloads in its new theme, at the switch', async () => {
  const page = await open({ javaScriptEnabled: false })
  await page.goto(`${url}/terms_of_service`)
  await choice(page, 'Light theme').click()
  await page.waitForURL('**/terms_of_service#theme')
  expect(await themeOf(page)).toBe('light')
  expect((await choice(page, 'Light theme').boundingBox())?.y).toBeLessThan(500)
})
