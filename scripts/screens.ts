import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { startStack } from '../dev/stack.ts'
import { openBrowser } from '../testing/browser/chromium.ts'
import { nextFrame, openScreen, setLook } from '../testing/browser/open-screen.ts'
import { SCREENS } from '../testing/browser/screens.ts'
import { gatherCast } from '../testing/people/cast.ts'
import { keepInstances } from '../testing/stack/many-instances.ts'

/** `npm run screens [name…]`: saves every screen at three widths in both themes to screens/. */
const FOLDER = 'screens'
const only = process.argv.slice(2)
const dataDir = mkdtempSync(join(tmpdir(), 'proving-ground-screens-'))
keepInstances(dataDir, 40, Date.now())
const stack = await startStack({
  dataDir,
  ec2BootMs: 500,
  fleetSize: 12,
  plansForSale: true,
  doorDomain: 'door.localhost',
  log: () => {},
})
const browser = await openBrowser()
if (!only.length) rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
/** WebP's limit is 16,383 pixels. */
const TALLEST = 16_000
let failures = 0
try {
  const cast = await gatherCast(stack)
  for (const screen of SCREENS) {
    if (only.length && !only.some((name) => screen.name.startsWith(name))) continue
    try {
      const { page, complaints } = await openScreen(browser, stack.url, screen, cast)
      for (const theme of ['light', 'dark'] as const)
        for (const width of [360, 768, 1280]) {
          await setLook(page, theme, width)
          writeFileSync(`${FOLDER}/${screen.name}-${width}-${theme}.webp`, await picture(page))
        }
      await page.context().close()
      console.log(screen.name, ...complaints)
    } catch (error) {
      failures += 1
      console.log(`${screen.name}: ${error}`)
    }
  }
} finally {
  await browser.close()
  await stack.close()
  rmSync(dataDir, { recursive: true, force: true })
}
process.exitCode = failures ? 1 : 0

/**
 * The whole page as WebP, a tenth of a PNG's size. The window grows to the page so its bars sit at the edges. It grows twice, because rows never
 * in view have an estimated height.
 */
async function picture(page: Page): Promise<Buffer> {
  const { width = 0, height = 0 } = page.viewportSize() ?? {}
  for (let time = 0; time < 2; time++) {
    await page.setViewportSize({ width, height })
    await nextFrame(page)
    const whole = await page.evaluate(() => document.documentElement.scrollHeight)
    await page.setViewportSize({ width, height: Math.min(Math.max(whole, height), TALLEST) })
    await nextFrame(page)
  }
  await page.bringToFront()
  await page.waitForTimeout(150)
  const session = await page.context().newCDPSession(page)
  const shot = session.send('Page.captureScreenshot', { format: 'webp', quality: 50 })
  const { data } = await Promise.race([shot, late()])
  await session.detach()
  return Buffer.from(data, 'base64')
}

/** Chromium waits for a frame, and a still page may never draw another. */
function late(): Promise<never> {
  return new Promise((_, fail) =>
    setTimeout(() => fail(new Error('Chromium took no screenshot within 20 s')), 20_000).unref(),
  )
}
