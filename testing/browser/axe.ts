import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults, RunOnly } from 'axe-core'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
export const WCAG_AA: RunOnly = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }
export const WCAG_AAA: RunOnly = { type: 'tag', values: ['wcag2aaa'] }
/** What a theme can change. */
export const COLORS: RunOnly = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }

/** Where the page, in its current state, breaks WCAG 2.2 AA (or only these rules), as far as axe can tell. */
export async function axeFaults(page: Page, runOnly = WCAG_AA): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE)
  const { violations } = await page.evaluate<AxeResults, RunOnly>(
    // @ts-expect-error axe exists once its source has run
    (only) => window.axe.run(document, { runOnly: only, resultTypes: ['violations'] }),
    runOnly,
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.target.join(' ')} ${node.failureSummary}`),
  )
}
