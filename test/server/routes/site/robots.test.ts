import { expect, inject, test } from 'vitest'

const get = (path: string) => fetch(`${inject('url')}${path}`)
const attribute = (html: string, pattern: RegExp) => pattern.exec(html)?.[1] ?? ''

const sitemap = await (await get('/sitemap.xml')).text()
const pages = [...sitemap.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, address = '']) => address)

test('robots.txt keeps search engines away from personal pages, and leads them to the sitemap', async () => {
  const answer = await get('/robots.txt')
  expect(answer.headers.get('Content-Type')).toMatch(/^text\/plain/)
  const text = await answer.text()
  for (const path of ['/api/', '/users/', '/dashboard', '/console']) expect(text).toContain(`Disallow: ${path}\n`)
  const address = attribute(text, /^Sitemap: (.+)$/m)
  expect(address).toBe(`${inject('url')}/sitemap.xml`)
  expect(await (await fetch(address)).text()).toBe(sitemap)
  for (const page of pages)
    for (const [, path = ''] of text.matchAll(/^Disallow: (.+)$/gm))
      expect(new URL(page).pathname.startsWith(path)).toBe(false)
})

test('every page of the sitemap has its own title, description, address, and picture, and may be indexed', async () => {
  const seen: { titles: string[]; descriptions: string[] } = { titles: [], descriptions: [] }
  expect(pages.length).toBeGreaterThan(4)
  for (const page of pages) {
    const answer = await fetch(page)
    expect(answer.status, page).toBe(200)
    const html = await answer.text()
    const meta = (name: string) => attribute(html, new RegExp(`<meta (?:property|name)="${name}" content="([^"]+)"`))
    seen.titles.push(attribute(html, /<title>([^<]+)<\/title>/))
    seen.descriptions.push(meta('description'))
    expect(attribute(html, /<link rel="canonical" href="([^"]+)"/)).toBe(page)
    expect(meta('og:url')).toBe(page)
    expect(meta('og:title')).not.toBe('')
    expect(meta('og:description')).toBe(meta('description'))
    expect(meta('twitter:card')).toBe('summary_large_image')
    expect(html).not.toContain('name="robots"')
    const picture = await fetch(meta('og:image'))
    expect(picture.headers.get('Content-Type')).toBe('image/png')
    for (const rel of ['icon', 'apple-touch-icon', 'manifest'])
      expect((await get(attribute(html, new RegExp(`<link rel="${rel}" href="([^"]+)"`)))).status).toBe(200)
  }
  for (const list of Object.values(seen)) expect(new Set(list).size, list.join('\n')).toBe(pages.length)
})

test('personal pages ask not to be indexed', async () => {
  for (const path of ['/confirm_email', '/reset_password'])
    expect(await (await get(path)).text()).toContain('<meta name="robots" content="noindex"/>')
})

test('every icon of the manifest exists', async () => {
  const manifest = (await (await get('/manifest.webmanifest')).json()) as { icons: { src: string; type: string }[] }
  for (const { src, type } of manifest.icons) expect((await get(src)).headers.get('Content-Type')).toContain(type)
})
