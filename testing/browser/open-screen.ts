import type { Browser, Page } from 'playwright-core'
import type { Cast } from '../people/cast.ts'
import { untilHydrated } from './e2e.ts'
import type { Screen } from './screen.ts'

export type OpenScreen = { page: Page; complaints: string[] }

/** Opens a screen in its own window, brings it into its state, and records the browser's complaints. */
export async function openScreen(browser: Browser, url: string, screen: Screen, cast: Cast): Promise<OpenScreen> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' })
  if (screen.as) {
    const [name = '', value = ''] = cast.cookie(screen.as).split('=')
    await context.addCookies([{ name, value, url }])
  }
  const page = await context.newPage()
  const complaints: string[] = []
  const note = (text: string) => screen.complains?.test(text) || complaints.push(text)
  page.on('pageerror', (error) => note(String(error)))
  page.on('console', (message) => message.type() === 'error' && note(message.text()))
  await page.goto(url + screen.path)
  await screen.prepare?.(page, cast)
  await page.waitForLoadState('load')
  await untilHydrated(page)
  await page.evaluate(() => new Promise((idle) => requestIdleCallback(() => setTimeout(idle, 150), { timeout: 1_000 })))
  if (await page.locator('.hero').count()) await page.locator('.hero.is-live').waitFor()
  return { page, complaints }
}

export type Theme = 'light' | 'dark'

/**
 * The look the server would have rendered for that cookie. A canvas rereads its colors when the width changes, so
 * change both, or the width.
 */
export async function setLook(page: Page, theme: Theme, width: number): Promise<void> {
  await page.evaluate((chosen) => {
    document.documentElement.dataset.theme = chosen
  }, theme)
  await page.setViewportSize({ width, height: width < 500 ? 780 : 800 })
  await nextFrame(page)
}

export const nextFrame = (page: Page) =>
  page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))))
