import type { Browser, Route } from 'playwright-core'
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
    // A request is among the entries once it has been answered.
    await page.waitForFunction(() => performance.getEntriesByType('resource').some(({ name }) => name.endsWith('.js')))
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

/** Signs in before the form's island is there; `answer` says what becomes of the file that wakes it. */
async function signInEarly(answer: (route: Route) => Promise<unknown>) {
  const page = await (await browser.newContext()).newPage()
  await page.clock.install()
  await page.route('**/assets/client-*.js', answer)
  await page.goto(`${url}/sign_in`)
  await page.locator('iframe.wake').waitFor({ state: 'detached' })
  await page.getByLabel('Email').fill('nobody@example.com')
  await page.getByLabel('Password', { exact: true }).fill('a wrong password')
  await page.getByRole('button', { name: 'Sign In' }).click()
  return page
}

test('a form that is sent before its island is there is sent by the island', async () => {
  const { promise: sent, resolve: release } = Promise.withResolvers<void>()
  const page = await signInEarly((route) => sent.then(() => route.continue()))
  await page.route('**/users/sign_in', (route) => route.abort())
  release()
  await page.getByText('Network error. Please check your connection.').waitFor()
  expect(await page.getByLabel('Email').inputValue()).toBe('nobody@example.com')
})

test('where no island comes, the form is sent by the browser', async () => {
  const page = await signInEarly((route) => route.abort())
  await page.clock.runFor(4_000)
  await page.getByText('Invalid email or password.').waitFor()
})

test('beside a message that could be dismissed it is the pressed form that is sent, and once', async () => {
  const page = await signInEarly((route) => route.abort())
  await page.unroute('**/assets/client-*.js')
  const { promise: pressed, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/assets/client-*.js', (route) => pressed.then(() => route.continue()))
  await page.clock.runFor(4_000)
  await page.getByRole('button', { name: 'Dismiss' }).waitFor()
  await page.locator('iframe.wake').waitFor({ state: 'detached' })
  const sent: string[] = []
  page.on('request', (request) => request.method() === 'POST' && sent.push(new URL(request.url()).pathname))
  await page.getByLabel('Password', { exact: true }).fill('another wrong password')
  await page.getByLabel('Email').fill('nobody@example.com')
  const button = page.getByRole('button', { name: 'Sign In' })
  await button.click()
  await button.click()
  const answered = page.waitForResponse('**/users/sign_in')
  release()
  await answered
  await untilAwake(page)
  await page.clock.runFor(5_000)
  expect(sent).toEqual(['/users/sign_in'])
})
