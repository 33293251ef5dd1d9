import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { complaintsOf, ownBrowser } from '../../testing/browser/e2e.ts'

const browser = await ownBrowser()

async function landing(options: BrowserContextOptions = {}) {
  const page = await browser.newPage({ viewport: { width: 1000, height: 700 }, ...options })
  const complaints = complaintsOf(page)
  const files: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/film/')) files.push(pathname)
  })
  await page.goto(inject('url'))
  const film = page.locator('.film')
  const slider = film.getByRole('slider', { name: 'Video time' })
  await page.locator('.film.is-live').waitFor({ state: 'attached' })
  return { page, complaints, files, film, slider, button: film.getByRole('button') }
}

const chapter = (page: Page) => page.locator('.film [aria-current=step] strong').innerText()

test('the film starts in view, stops when paused, and can be scrubbed to its end and played again', async () => {
  const { page, complaints, files, film, slider, button } = await landing()
  expect(files.filter((file) => file.endsWith('.webm'))).toEqual([])
  await film.scrollIntoViewIfNeeded()
  await film.locator('.view').hover()
  await expect.poll(async () => Number(await slider.inputValue())).toBeGreaterThan(0.2)
  expect(await button.innerText()).toBe('Pause')
  expect(await chapter(page)).toBe('Start')
  await button.click()
  await expect.poll(() => page.evaluate(() => document.querySelector('video')?.paused)).toBe(true)
  await slider.fill('13')
  expect(await chapter(page)).toBe('Stop')
  expect(await slider.getAttribute('aria-valuetext')).toBe('13 of 21 seconds')
  await expect.poll(() => page.evaluate(() => document.querySelector('video')?.currentTime)).toBe(13)
  await slider.fill('20.5')
  await button.click()
  await expect.poll(() => slider.inputValue()).toBe('21')
  await expect.poll(() => button.innerText()).toBe('Play')
  await button.click()
  await expect.poll(async () => Number(await slider.inputValue())).toBeLessThan(20)
  expect(complaints).toEqual([])
})

test('with reduced motion, a phone in the light loads its own still picture, and its own film on Play', async () => {
  const { page, files, film, button } = await landing({
    reducedMotion: 'reduce',
    colorScheme: 'light',
    viewport: { width: 390, height: 780 },
  })
  await film.scrollIntoViewIfNeeded()
  await expect.poll(() => files).toEqual(['/film/tall-light.webp'])
  expect(await button.innerText()).toBe('Play')
  await button.click()
  await expect.poll(() => files).toEqual(['/film/tall-light.webp', '/film/tall-light.webm'])
  await expect.poll(() => page.evaluate(() => document.querySelector('video')?.paused)).toBe(false)
})
