import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { complaintsOf, ownBrowser } from '../../testing/browser/e2e.ts'

const browser = await ownBrowser()

async function landing(options: BrowserContextOptions = {}, before = () => {}) {
  const page = await browser.newPage({ viewport: { width: 1000, height: 700 }, ...options })
  const complaints = complaintsOf(page)
  await page.addInitScript(before)
  await page.goto(inject('url'))
  return { page, complaints, hero: page.locator('.hero') }
}

const time = (page: Page) => page.locator('.hero dd').first().innerText()
const moves = (page: Page) => expect.poll(async () => (await later(page, 250)).moved).toBe(true)
const rests = (page: Page) => expect.poll(async () => (await later(page, 600)).moved).toBe(false)

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
  expect(page.workers()).toHaveLength(1)
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

test('a browser without offscreen canvases keeps the still picture, and shows no dead button', async () => {
  const { page, complaints, hero } = await landing({}, () => {
    Reflect.deleteProperty(HTMLCanvasElement.prototype, 'transferControlToOffscreen')
  })
  await page.waitForFunction(() => performance.getEntriesByType('resource').some(({ name }) => /hero/.test(name)))
  await page.waitForLoadState('networkidle')
  expect(await hero.locator('canvas').count()).toBe(0)
  expect(await hero.locator('svg.frame').isVisible()).toBe(true)
  expect(await hero.getByRole('button', { name: /Play|Pause/ }).count()).toBe(0)
  expect(complaints).toEqual([])
})
