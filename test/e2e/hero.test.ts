import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openBrowser } from '../../testing/browser/chromium.ts'
import { complaintsOf } from '../../testing/browser/e2e.ts'

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

async function landing(options: BrowserContextOptions = {}, before = () => {}) {
  const context = await browser.newContext({ viewport: { width: 1000, height: 700 }, ...options })
  const page = await context.newPage()
  const complaints = complaintsOf(page)
  await page.addInitScript(before)
  await page.goto(inject('url'))
  return { page, complaints, hero: page.locator('.hero'), replay: page.locator('.replay') }
}

const time = (page: Page) => page.locator('.hero dd').first().innerText()
const soon = { timeout: 20_000 }
const moves = (page: Page) => expect.poll(async () => (await later(page, 250)).moved, soon).toBe(true)
const rests = (page: Page) => expect.poll(async () => (await later(page, 600)).moved, soon).toBe(false)

async function later(page: Page, ms: number) {
  const before = await time(page)
  await page.waitForTimeout(ms)
  return { moved: (await time(page)) !== before }
}

test('the picture plays automatically, pauses, and resumes; workers paint it, not the page', async () => {
  const { page, complaints, hero } = await landing()
  const button = hero.getByRole('button')
  await button.waitFor()
  await moves(page)
  const seen = await hero.locator('.view').screenshot()
  await moves(page)
  expect(seen.equals(await hero.locator('.view').screenshot())).toBe(false)
  expect(await button.innerText()).toBe('Pause')
  await button.click()
  expect(await button.innerText()).toBe('Play')
  await rests(page)
  await button.click()
  await moves(page)
  expect(page.workers()).toHaveLength(2)
  expect(complaints).toEqual([])
})

test('rests while out of view', async () => {
  const { page } = await landing()
  await moves(page)
  await page.getByRole('contentinfo').scrollIntoViewIfNeeded()
  await rests(page)
  await page.evaluate(() => scrollTo(0, 0))
  await moves(page)
})

test('with reduced motion, shows the first frame until the person presses Play', async () => {
  const { page, hero } = await landing({ reducedMotion: 'reduce' })
  const button = hero.getByRole('button', { name: 'Play' })
  await button.waitFor()
  expect(await time(page)).toBe('24.6 s')
  await rests(page)
  await button.click()
  await moves(page)
})

test('the replay can be scrubbed, played to its end, and played again from its start', async () => {
  const { page, complaints, replay } = await landing({ reducedMotion: 'reduce' })
  const slider = replay.getByRole('slider')
  await slider.scrollIntoViewIfNeeded()
  await slider.fill('10')
  const caption = replay.getByRole('paragraph')
  await expect.poll(() => caption.innerText(), soon).toContain('each lidar sweep adds returns')
  expect(await slider.getAttribute('aria-valuetext')).toBe('10 of 46 seconds')
  const early = await replay.locator('.view').screenshot()
  await slider.fill('45.8')
  await expect.poll(() => caption.innerText(), soon).toContain('Survey complete.')
  await expect.poll(async () => early.equals(await replay.locator('.view').screenshot()), soon).toBe(false)
  await replay.getByRole('button', { name: 'Play' }).click()
  await expect.poll(() => slider.inputValue(), soon).toBe('46')
  await replay.getByRole('button', { name: 'Play' }).click()
  await replay.getByRole('button', { name: 'Pause' }).waitFor()
  expect(Number(await slider.inputValue())).toBeLessThan(46)
  expect(await page.locator('.replay.is-live').count()).toBe(1)
  expect(complaints).toEqual([])
})

test('a browser without offscreen canvases keeps the still picture, and shows no dead button', async () => {
  const { page, complaints, hero } = await landing({}, () => {
    Reflect.deleteProperty(HTMLCanvasElement.prototype, 'transferControlToOffscreen')
  })
  await page.waitForFunction(() => performance.getEntriesByType('resource').some(({ name }) => /hero/.test(name)))
  await page.waitForLoadState('networkidle')
  expect(await hero.locator('canvas').count()).toBe(0)
  expect(await hero.locator('svg.frame').isVisible()).toBe(true)
  expect(await page.getByRole('button', { name: /Play|Pause/ }).count()).toBe(0)
  expect(complaints).toEqual([])
})
