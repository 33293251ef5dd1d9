import { gunzipSync } from 'node:zlib'
import { expect, inject, test } from 'vitest'
import { routes } from '../../src/server/app.ts'
import { newPerson } from '../../testing/people/client.ts'
import { html, plain } from '../../testing/people/reader.ts'

const url = inject('url')
const ada = await newPerson(url)

const PAGES = ['', '/api', '/events', '/cli', '/ci', '/billing', '/images', '/ports'].map((path) => `/docs${path}`)

test('the package to download has the command line and the client', async () => {
  const packed = Buffer.from(await (await fetch(`${url}/cli/proving-ground.tgz`)).arrayBuffer())
  const tar = gunzipSync(packed).toString('latin1')
  for (const file of ['proving-ground.js', 'client.js', 'client.d.ts', 'api-types.d.ts'])
    expect(tar).toContain(`package/dist/${file}`)
})

test('every call of the OpenAPI document is on its page', async () => {
  const { paths } = (await (await fetch(`${url}/api/openapi.json`)).json()) as { paths: Record<string, object> }
  const page = plain(await html('/docs/api'))
  for (const [path, methods] of Object.entries(paths))
    for (const method of Object.keys(methods)) expect(page).toContain(`${method.toUpperCase()} ${path}`)
})

test('the prices are right', async () => {
  const text = plain((await html('/docs/billing')).replace(/<[^>]+>/g, ' '))
  expect(text.replace(/ +/g, ' ')).toMatch(/That run counts 1h 29m 18s , which is 5358 seconds/)
  // 5358 × 0.0004861 = 2.6045; 7 h × 3600 × 0.0004861 = 12.2497
  for (const amount of ['$2.60', '$12.25', '$3.50', '$2.62', '$0.00']) expect(text).toContain(amount)
})

test.each(PAGES)('%s: its links lead somewhere, and its one script copies and searches', async (path) => {
  const page = await html(path)
  const scripts = [...page.matchAll(/<script (?!id="bootstrap")[^>]*src="([^"]*)"/g)].map(([, source]) => source)
  expect(scripts).toEqual([expect.stringMatching(/^\/assets\/docs-[\w-]+\.js$/)])
  expect(page).not.toContain('origin.invalid')
  const main = page.slice(page.indexOf('<main'), page.indexOf('</main>'))
  for (const [, to = ''] of main.matchAll(/href="([/#][^"]*)"/g)) {
    const [where = '', anchor] = to.split('#')
    const target = where === '' ? page : (await ada.open(where)).text
    expect((await fetch(url + (where || path), { redirect: 'manual' })).status, to).toBeLessThan(400)
    if (anchor) expect(target, to).toContain(`id="${anchor}"`)
  }
})

test('search engines and language models find them', async () => {
  const [sitemap, llms] = [await html('/sitemap.xml'), await html('/llms.txt')]
  for (const path of PAGES) {
    expect(routes.facts).toHaveProperty([`GET ${path}`])
    expect(sitemap).toContain(`<loc>${url}${path}</loc>`)
    expect(llms).toContain(`](${url}${path})`)
  }
  expect(llms).toMatch(/^# Proving Ground\n\n> /)
  expect(await html('/')).toContain('href="/docs"')
})
