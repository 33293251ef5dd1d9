import { existsSync } from 'node:fs'
import { freePort } from '../dev/free-port.ts'
import { newPerson } from './people.ts'
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
/** A signed-in page asks search engines to stay away, which is what Lighthouse's SEO score holds against it. */
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo']

/** Lighthouse as it comes: a mobile telephone with a slow network, simulated. */
export async function benchLighthouse(site: BenchSite): Promise<Row[]> {
  const [{ default: lighthouse }, { launch }] = await Promise.all([import('lighthouse'), import('chrome-launcher')])
  const chromePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync)
  const chrome = await launch({
    port: await freePort(),
    ...(chromePath ? { chromePath } : {}),
    chromeFlags: ['--headless=new', '--no-sandbox', '--disable-dev-shm-usage'],
  })
  const person = await newPerson(site)
  const rows: Row[] = []
  try {
    for (const path of PAGES) {
      const extraHeaders = SIGNED_IN.has(path) ? { Cookie: person.cookie } : {}
      const result = await lighthouse(site.url + path, {
        port: chrome.port,
        logLevel: 'error',
        onlyCategories: SIGNED_IN.has(path) ? CATEGORIES.slice(0, 3) : CATEGORIES,
        extraHeaders,
      })
      if (!result) throw new Error(`Lighthouse has no result for ${path}`)
      const { categories, audits } = result.lhr
      const scores = Object.values(categories).map(({ score }) => Math.round((score ?? 0) * 100))
      const [performance = 0, ...others] = scores
      const ms = (id: string) => Math.round(audits[id]?.numericValue ?? 0)
      const isGood = SIGNED_IN.has(path)
        ? performance >= 98 && others[0] === 100
        : scores.every((score) => score === 100)
      rows.push({
        what: `Lighthouse ${path}`,
        measured: `${scores.join('/')}, LCP ${ms('largest-contentful-paint')} ms, CLS ${audits['cumulative-layout-shift']?.displayValue}`,
        budget: SIGNED_IN.has(path) ? '≥ 98/100/…' : '100/100/100/100',
        ok: isGood,
      })
      for (const { auditRefs } of Object.values(categories))
        for (const { id, weight } of auditRefs) {
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
