import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, inject, test } from 'vitest'
import { axeFaults } from '../../testing/browser/axe.ts'
import { ownBrowser } from '../../testing/browser/e2e.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const url = inject('url')
const browser = await ownBrowser()
const html = await (await fetch(`${url}/dev/components`)).text()
const sections = html.matchAll(/data-component="([^"]+)" data-file="([^"]+)"/g)
const shown = new Map([...sections].map(([, name = '', file = '']) => [name, file]))

test.each(['src/ui', 'src/pages/billing', 'src/islands/dashboard'])(
  'shows every component of %s, with its file',
  (folder) => {
    const files = readdirSync(join(ROOT, folder)).filter((file) => file.endsWith('.tsx'))
    expect(files.length).toBeGreaterThan(3)
    for (const file of files.map((name) => `${folder}/${name}`)) {
      const names = [...readFileSync(join(ROOT, file), 'utf8').matchAll(/^export function ([A-Z]\w+)/gm)]
      const missing = names.map(([, name = '']) => name).filter((name) => shown.get(name) !== file)
      // A container that only fetches and passes on has nothing to show itself.
      expect(
        missing.filter((name) => !shown.has(`${name}As`)),
        `${file}: give it a place in dev/components`,
      ).toEqual([])
    }
  },
)

test.each(['visitor', 'user', 'admin'])('shows the frame of a %s, with the deployed style sheets', async (as) => {
  const html = await (await fetch(`${url}/dev/components?as=${as}`)).text()
  expect(html.includes('<a href="/console">')).toBe(as === 'admin')
  expect(html.includes('Interested?')).toBe(as === 'visitor')
  for (const [, href = ''] of html.matchAll(/<link rel="stylesheet" href="([^"]+)"/g))
    expect((await fetch(url + href)).status).toBe(200)
})

test.each(['light', 'dark'])('in %s, on desktop and phone, axe finds nothing and nothing overflows', async (theme) => {
  const page = await browser.newPage({ reducedMotion: 'reduce' })
  await page.goto(`${url}/dev/components?theme=${theme}`)
  const faults: string[] = []
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    faults.push(...(await axeFaults(page)).map((fault) => `${width} ${fault}`))
    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    if (over > 0) faults.push(`${width} scrolls ${over} px sideways`)
  }
  expect(faults).toEqual([])
  await page.close()
})

test('the deployed Worker does not have this page', async () => {
  expect(readFileSync(join(ROOT, 'dist/worker/index.js'), 'utf8')).not.toContain('/dev/components')
})
