import type { RunnerResult as Result } from 'lighthouse'
import { chromium } from 'playwright-core'
import { freePort } from '../dev/free-port.ts'
import { CHROMIUM_FLAGS, findChromium } from '../testing/browser/chromium.ts'
import { newSignedInPerson } from '../testing/people/signed-in-person.ts'
import { median } from './median.ts'
import type { BenchSite } from './site.ts'
import type { Row } from './table.ts'

const PAGES = [
  '/',
  '/pricing',
  '/contact_sales',
  '/terms_of_service',
  '/sign_in',
  '/sign_up',
  '/dashboard',
  '/billing_history',
]
const SIGNED_IN = new Set(['/dashboard', '/billing_history'])
/** Signed-in pages are noindex, which Lighthouse's SEO score penalizes. */
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo']

const RUNS = 3

/** Lighthouse's defaults: a simulated phone on a slow network. */
export async function benchLighthouse(site: BenchSite): Promise<Row[]> {
  const [{ default: lighthouse }, { launch }] = await Promise.all([import('lighthouse'), import('chrome-launcher')])
  const { executablePath, env } = await findChromium()
  const chrome = await launch({
    port: await freePort(),
    chromePath: executablePath,
    envVars: env,
    chromeFlags: ['--headless=new', ...CHROMIUM_FLAGS],
  })
  const person = await newSignedInPerson(site)
  const rows: Row[] = []
  try {
    for (const path of PAGES) {
      if (SIGNED_IN.has(path)) await signIn(`http://127.0.0.1:${chrome.port}`, site.url, person.cookie)
      const runs: Result['lhr'][] = []
      for (let run = 0; run < RUNS; run++) {
        const result = await lighthouse(site.url + path, {
          port: chrome.port,
          logLevel: 'error',
          onlyCategories: SIGNED_IN.has(path) ? CATEGORIES.slice(0, 3) : CATEGORIES,
        })
        if (!result) throw new Error(`Lighthouse has no result for ${path}`)
        const { finalDisplayedUrl } = result.lhr
        if (finalDisplayedUrl !== site.url + path) throw new Error(`${path} redirected to ${finalDisplayedUrl}`)
        runs.push(result.lhr)
      }
      rows.push(rowOf(path, runs))
      for (const { categories, audits } of runs.slice(0, 1))
        for (const { id, weight } of Object.values(categories).flatMap(({ auditRefs }) => auditRefs)) {
          const audit = audits[id]
          if (weight && audit && audit.score !== null && audit.score < 0.9)
            console.log(`${path} ${id}: ${audit.title} ${audit.displayValue ?? ''}`)
        }
    }
  } finally {
    chrome.kill()
  }
  return rows
}

/** Sets the browser's own cookie: Lighthouse drops a cookie header once the site sets a cookie. */
async function signIn(debugging: string, url: string, cookie: string): Promise<void> {
  const browser = await chromium.connectOverCDP(debugging)
  const [name = '', value = ''] = cookie.split('=')
  await browser.contexts()[0]?.addCookies([{ name, value, url }])
  await browser.close()
}

/** The median of each metric. */
function rowOf(path: string, runs: Result['lhr'][]): Row {
  const ids = Object.keys(runs[0]?.categories ?? {})
  const scores = ids.map((id) => Math.round(100 * median(runs.map(({ categories }) => categories[id]?.score ?? 0))))
  const figure = (id: string) => median(runs.map(({ audits }) => audits[id]?.numericValue ?? Number.NaN))
  const [lcp, cls] = [Math.round(figure('largest-contentful-paint')), figure('cumulative-layout-shift')]
  const [performance = 0, accessibility] = scores
  const isSignedIn = SIGNED_IN.has(path)
  const longest = isSignedIn ? 1_350 : 950
  const isGood = isSignedIn ? performance >= 98 && accessibility === 100 : scores.every((score) => score === 100)
  return {
    what: `Lighthouse ${path}`,
    measured: `${scores.join('/')}, LCP ${lcp} ms, CLS ${Number(cls.toFixed(3))}`,
    budget: `${isSignedIn ? '≥ 98/100/…' : '100/100/100/100'}, LCP ≤ ${longest} ms, CLS 0`,
    ok: isGood && lcp <= longest && cls < 0.001,
  }
}
