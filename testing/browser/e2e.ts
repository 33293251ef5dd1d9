import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import type { StackOptions } from '../../dev/services.ts'
import { type Stack, startStack } from '../../dev/stack.ts'
import { newPerson } from '../people/client.ts'
import { atEnd, temporaryFolder } from '../stack/at-end.ts'
import { quickHasher } from '../stack/quick-hasher.ts'
import { openBrowser } from './chromium.ts'

type Options = Partial<Omit<StackOptions, 'dataDir' | 'port'>> & {
  /** Puts files into the folder for the stack to find at startup. */
  prepare?: (dataDir: string) => void
}

/** This file's own stack with a browser in front of it, from the first test to the last. */
export function stackAndBrowser({ prepare, ...options }: Options = {}) {
  const world = {} as { stack: Stack; url: string; browser: Browser }
  const dataDir = temporaryFolder('proving-ground-e2e')
  beforeAll(async () => {
    prepare?.(dataDir)
    world.stack = await startStack({ dataDir, ec2BootMs: 300, log: () => {}, ...quickHasher, ...options })
    world.url = world.stack.url
    world.browser = await openBrowser()
  })
  afterAll(async () => {
    if (world.browser) await close(world.browser)
    await world.stack?.close()
  })
  return world
}

/** A browser of this file's own, for the site that all tests share. */
export async function ownBrowser(): Promise<Browser> {
  const browser = await openBrowser()
  atEnd(() => close(browser))
  return browser
}

/** A request that a test still holds must not become an error outside all tests. */
async function close(browser: Browser): Promise<void> {
  const routed = browser.contexts().flatMap((context) => [context, ...context.pages()])
  await Promise.all(routed.map((each) => each.unrouteAll({ behavior: 'ignoreErrors' })))
  await browser.close()
}

export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
export const DESK = { viewport: { width: 1280, height: 800 } }

export const SCRIPT_OR_NOT: [string, BrowserContextOptions][] = [
  ['with scripts', {}],
  ['without scripts', { javaScriptEnabled: false }],
]

/** Confirms the question that Stop asks. */
export async function confirmStop(page: Page): Promise<void> {
  const question = page.getByRole('dialog', { name: 'Stop this server?' })
  await question.getByRole('button', { name: 'Stop server' }).click()
}

/** Presses Stop on the server's card, and waits until it has stopped. */
export async function stopServer(page: Page, card: Locator): Promise<void> {
  await card.getByRole('button', { name: 'Stop', exact: true }).click()
  await confirmStop(page)
  await page
    .locator('main')
    .getByText(/^Server stopped\./)
    .first()
    .waitFor()
}

/** Moves the whole stack ahead; the cron run handles what the move has made due. */
export async function advance(url: string, seconds: number): Promise<void> {
  for (const [path, body] of [
    ['/dev/clock', { advance_seconds: seconds }],
    ['/dev/cron', { cron: '* * * * *' }],
  ] as const) {
    const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${response.status}`)
  }
}

type Named = { email: string; password: string }

/** Fills in the sign-in screen the way a person does. */
export async function signInByHand(page: Page, url: string, { email, password }: Named): Promise<void> {
  await page.goto(`${url}/sign_in`)
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign In', exact: true }).click()
  // It leads to the dashboard, or back to where their session ended.
  await page.waitForURL((url) => !url.pathname.startsWith('/sign_in'))
}

/** From here on, time passes in the page only as the test says. */
export async function stopClock(page: Page): Promise<void> {
  const now = Date.now()
  await page.clock.install({ time: now })
  await page.clock.pauseAt(now + 60_000)
}

/** Waits until every island is hydrated: a test that fakes answers or the clock must not meet the plain form first. */
export async function untilHydrated(page: Page): Promise<void> {
  await page.waitForFunction(() => !document.querySelector('[data-island]:not([data-hydrated])'))
}

/** A window of someone who is already signed in. */
export async function pageOf(
  browser: Browser,
  url: string,
  person: { cookies: Map<string, string> },
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext(options)
  await context.addCookies([...person.cookies].map(([name, value]) => ({ name, value, url })))
  return context.newPage()
}

/** Keeps servers in the state between two others, until released: a page may show it only for a second. */
export function hold({ stack }: { stack: Stack }): { release(): void } {
  stack.services.ec2?.hold(true)
  return { release: () => stack.services.ec2?.hold(false) }
}

/** The dashboard of a new person on a trial who has just requested a server, and the card of that server. */
export async function openWithServer(world: { browser: Browser; url: string }, options: BrowserContextOptions = {}) {
  const person = await newPerson(world.url)
  await person.post('/api/v1/aws/auto_cloud_start_request')
  const page = await pageOf(world.browser, world.url, person, options)
  await page.goto(`${world.url}/dashboard`)
  const card = page.getByRole('region', { name: /^Server (starting|running|stopping)$/ })
  return { page, person, card }
}

/** A busy browser skips the animation between two pages. */
const LEFT_OUT =
  /^Transition was aborted because of invalid state\. (Page already revealed|ViewTransition opt-in disabled)/

/** The page's complaints: errors in its console and uncaught exceptions. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => LEFT_OUT.test(error.message) || complaints.push(`${page.url()} ${error}`))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.location().url} ${message.text()}`)
  })
  return complaints
}
