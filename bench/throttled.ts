import type { Browser } from 'playwright-core'
import { newSignedInPerson } from '../testing/people/signed-in-person.ts'
import { median } from './median.ts'
import type { BenchSite } from './site.ts'
import { atMost, type Row } from './table.ts'

const RUNS = 9

type Line = { name: string; latency: number; kilobits: number; cpu: number }
const THROTTLED: Line = { name: 'throttled', latency: 150, kilobits: 1600, cpu: 4 }
const FAST: Line = { name: 'fast', latency: 20, kilobits: 10_000, cpu: 1 }

/** When every island is hydrated, in ms: [throttled, fast]. */
const USABLE: Record<string, [number, number]> = {
  '/dashboard': [1250, 350],
  '/sign_in': [1500, 450],
  '/sign_up': [1500, 450],
}
/** How much later than without scripts a page may show its largest text. */
const PAINT_RATIO = 1.05

/**
 * When a page is usable on a slow phone, and how much its scripts delay the largest paint, in a real, throttled browser with an empty cache.
 * Medians of 9, with each page compared to itself without scripts in the same run.
 */
export async function benchThrottled(site: BenchSite, browser: Browser): Promise<Row[]> {
  const person = await newSignedInPerson(site)
  const rows: Row[] = []
  for (const [path, budgets] of Object.entries(USABLE)) {
    const cookie = path === '/dashboard' ? person.cookie : null
    for (const [i, line] of [THROTTLED, FAST].entries()) {
      const runs: { usable: number; paint: number; bare: number }[] = []
      for (let run = 0; run < RUNS; run++) {
        const { usable, paint } = await open(browser, site.url, path, cookie, line, 'with scripts')
        const bare = await open(browser, site.url, path, cookie, line, 'without scripts')
        runs.push({ usable, paint, bare: bare.paint })
      }
      rows.push(atMost(`${path} usable, ${line.name}`, median(runs.map((run) => run.usable)), budgets[i] ?? 0, 'ms', 0))
      if (line === THROTTLED) rows.push(paintRow(path, runs))
    }
  }
  for (const path of ['/', '/pricing']) {
    const runs: { paint: number; bare: number }[] = []
    for (let run = 0; run < RUNS; run++) {
      const { paint } = await open(browser, site.url, path, null, THROTTLED, 'with scripts')
      runs.push({ paint, bare: (await open(browser, site.url, path, null, THROTTLED, 'without scripts')).paint })
    }
    rows.push(paintRow(path, runs))
  }
  return rows
}

function paintRow(path: string, runs: { paint: number; bare: number }[]): Row {
  const [paint, bare] = [median(runs.map((run) => run.paint)), median(runs.map((run) => run.bare))]
  const what = `${path} largest paint, throttled: ${Math.round(paint)} ms, ${Math.round(bare)} without scripts`
  return atMost(what, paint / bare, PAINT_RATIO, '×', 2)
}

type Seen = { usable: number | null; paint: number }

async function open(
  browser: Browser,
  url: string,
  path: string,
  cookie: string | null,
  line: Line,
  scripts: 'with scripts' | 'without scripts',
): Promise<{ usable: number; paint: number }> {
  const context = await browser.newContext({ viewport: { width: 390, height: 780 } })
  try {
    const [name = '', value = ''] = cookie?.split('=') ?? []
    if (cookie) await context.addCookies([{ name, value, url }])
    const page = await context.newPage()
    await page.addInitScript(watchPage)
    const devtools = await context.newCDPSession(page)
    await devtools.send('Network.enable')
    if (scripts === 'without scripts') await devtools.send('Network.setBlockedURLs', { urls: ['*.js'] })
    const bytesPerSecond = (line.kilobits * 1000) / 8
    await devtools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: line.latency,
      downloadThroughput: bytesPerSecond,
      uploadThroughput: bytesPerSecond,
    })
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
