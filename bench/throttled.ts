import type { Browser } from 'playwright-core'
import { newSignedInPerson } from '../testing/people/signed-in-person.ts'
import { startEdge } from './edge.ts'
import { median } from './median.ts'
import type { BenchSite } from './site.ts'
import { atMost, type Row } from './table.ts'

/** A frame is 0.03 of a paint row's ratio: fewer runs can't tell 1.04 from 1.06. */
const RUNS = 15

type Line = { name: string; latency: number; kilobits: number; cpu: number }
const THROTTLED: Line = { name: 'throttled', latency: 150, kilobits: 1600, cpu: 4 }
const FAST: Line = { name: 'fast', latency: 20, kilobits: 10_000, cpu: 1 }

/** When every island is hydrated, in ms: [throttled, fast]. */
const USABLE: Record<string, [number, number]> = {
  '/dashboard': [1250, 350],
  '/sign_in': [1500, 450],
  '/sign_up': [1500, 450],
}
/** How much later than without scripts a page may show its largest text, on a line that sends the most urgent response first. */
const PAINT_RATIO = 1.05
/**
 * The same for a page with islands under Chromium's own emulation. It gives every response an equal share of the line, so the style sheet waits for
 * scripts that nobody needs yet. Such a page misses 1.05 (docs/decisions/011-paint-over-http2.md); this budget only shows when it gets worse.
 */
const SHARED_PAINT_RATIO = 1.25

/**
 * When a page is usable on a slow phone, and how much its scripts delay the largest paint, in a real, throttled browser with an empty cache.
 * Medians of 15, with each page compared to itself without scripts in the same run.
 */
export async function benchThrottled(site: BenchSite, browser: Browser): Promise<Row[]> {
  const person = await newSignedInPerson(site)
  const edge = await startEdge(site.url, THROTTLED)
  const rows: Row[] = []
  try {
    for (const path of ['/dashboard', '/sign_in', '/sign_up', '/', '/pricing']) {
      const cookie = path === '/dashboard' ? person.cookie : null
      const budgets = USABLE[path]
      const shared = await measure(browser, { url: site.url, path, cookie, line: THROTTLED, isEmulated: true })
      if (budgets) rows.push(usableRow(path, THROTTLED, shared, budgets[0]))
      rows.push(paintRow(`${path} largest paint, HTTP/1.1`, shared, budgets ? SHARED_PAINT_RATIO : PAINT_RATIO))
      const urgentFirst = await measure(browser, { url: edge.url, path, cookie, line: THROTTLED, isEmulated: false })
      rows.push(paintRow(`${path} largest paint, HTTP/2`, urgentFirst, PAINT_RATIO))
      if (!budgets) continue
      const fast = await measure(browser, { url: site.url, path, cookie, line: FAST, isEmulated: true })
      rows.push(usableRow(path, FAST, fast, budgets[1]))
    }
  } finally {
    await edge.close()
  }
  return rows
}

type Run = { usable: number; paint: number; bare: number }

function usableRow(path: string, line: Line, runs: Run[], budget: number): Row {
  return atMost(`${path} usable, ${line.name}`, median(runs.map((run) => run.usable)), budget, 'ms', 0)
}

function paintRow(what: string, runs: Run[], budget: number): Row {
  const [paint, bare] = [median(runs.map((run) => run.paint)), median(runs.map((run) => run.bare))]
  return atMost(`${what}: ${Math.round(paint)} ms, ${Math.round(bare)} without scripts`, paint / bare, budget, '×', 2)
}

/** `isEmulated`: Chromium slows the responses itself, between its cache and its connections. Otherwise the connection is slow. */
type Visit = { url: string; path: string; cookie: string | null; line: Line; isEmulated: boolean }

/** The page with and without scripts, in turn. */
async function measure(browser: Browser, visit: Visit): Promise<Run[]> {
  const runs: Run[] = []
  for (let run = 0; run < RUNS; run++) {
    const page = await open(browser, visit, 'with scripts')
    const bare = await open(browser, visit, 'without scripts')
    runs.push({ ...page, bare: bare.paint })
  }
  return runs
}

type Seen = { usable: number | null; paint: number }

async function open(
  browser: Browser,
  { url, path, cookie, line, isEmulated }: Visit,
  scripts: 'with scripts' | 'without scripts',
): Promise<{ usable: number; paint: number }> {
  const context = await browser.newContext({ viewport: { width: 390, height: 780 }, ignoreHTTPSErrors: true })
  try {
    const [name = '', value = ''] = cookie?.split('=') ?? []
    if (cookie) await context.addCookies([{ name, value, url }])
    const page = await context.newPage()
    await page.addInitScript(watchPage)
    const devtools = await context.newCDPSession(page)
    await devtools.send('Network.enable')
    if (scripts === 'without scripts') await devtools.send('Network.setBlockedURLs', { urls: ['*.js'] })
    if (isEmulated) {
      const bytesPerSecond = (line.kilobits * 1000) / 8
      await devtools.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: line.latency,
        downloadThroughput: bytesPerSecond,
        uploadThroughput: bytesPerSecond,
      })
    } else {
      // Emulated connections open at once. We open this one before the page.
      await page.goto(`${url}/robots.txt`)
    }
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: line.cpu })
    await page.goto(url + path)
    const isPlain = scripts === 'without scripts' || (await page.locator('[data-island]').count()) === 0
    if (!isPlain) await page.waitForFunction(() => (window as unknown as { seen: Seen }).seen.usable !== null)
    // The browser reports a paint after it happens, and a larger one later.
    await page.waitForFunction(() => !Number.isNaN((window as unknown as { seen: Seen }).seen.paint))
    await page.waitForTimeout(500)
    const seen = await page.evaluate(() => (window as unknown as { seen: Seen }).seen)
    return { usable: seen.usable ?? Number.NaN, paint: seen.paint }
  } finally {
    await context.close()
  }
}

/** Runs in the page before its own scripts: records when its islands hydrate and when its largest text appears. */
function watchPage(): void {
  const seen: Seen = { usable: null, paint: Number.NaN }
  Object.assign(window, { seen })
  new PerformanceObserver((list) => {
    seen.paint = list.getEntries().at(-1)?.startTime ?? seen.paint
  }).observe({ type: 'largest-contentful-paint', buffered: true })
  new MutationObserver((_, observer) => {
    if (!document.querySelector('[data-island]') || document.querySelector('[data-island]:not([data-hydrated])')) return
    seen.usable ??= performance.now()
    observer.disconnect()
  }).observe(document, { subtree: true, childList: true, attributeFilter: ['data-hydrated'] })
}
