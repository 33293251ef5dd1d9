import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openBrowser } from '../support/chromium.ts'
import { complaintsOf, untilAwake } from '../support/e2e.ts'

const url = inject('url')
let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

/** A page in a window where time does not pass for animations, so that only its first use can wake it. */
async function openStill(path: string) {
  const page = await (await browser.newContext({ hasTouch: true })).newPage()
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Animation.enable')
  await devtools.send('Animation.setPlaybackRate', { playbackRate: 0 })
  await page.goto(url + path)
  return page
}

test.each(['/', '/pricing', '/contact_sales', '/sign_in', '/sign_up', '/no-such-page'])(
  '%s asks for no script before it is seen, and for its script afterwards',
  async (path) => {
    const page = await (await browser.newContext()).newPage()
    const complaints = complaintsOf(page)
    await page.goto(url + path)
    await untilAwake(page)
    const { seen, asked } = await page.evaluate(() => ({
      seen: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
      asked: performance
        .getEntriesByType('resource')
        .map(({ name, startTime }) => ({ name: new URL(name).pathname, startTime })),
    }))
    const before = asked.filter(({ startTime }) => !(startTime > seen)).map(({ name }) => name)
    expect(before.filter((name) => /\.js$|^\/wake/.test(name))).toEqual([])
    expect(asked.map(({ name }) => name)).toContainEqual(expect.stringMatching(/^\/assets\/public-.*\.js$/))
    expect(complaints.filter((complaint) => !complaint.includes('404'))).toEqual([])
  },
)

test('a text has no script to wake', async () => {
  const page = await (await browser.newContext()).newPage()
  await page.goto(`${url}/terms_of_service`)
  expect(await page.locator('iframe').count()).toBe(0)
})

test('somebody who begins to use a page does not wait for its script’s time', async () => {
  const [keys, finger] = [await openStill('/sign_in'), await openStill('/pricing')]
  await keys.waitForLoadState('networkidle')
  expect(await keys.locator('iframe').count()).toBe(1)
  await keys.keyboard.press('Tab')
  await untilAwake(keys)

  await finger.waitForLoadState('networkidle')
  expect(await finger.locator('iframe').count()).toBe(1)
  await finger.getByRole('heading', { level: 1 }).tap()
  await untilAwake(finger)
})
