import { createHash } from 'node:crypto'
import { Hono } from 'hono'
import { expect, inject, test, vi } from 'vitest'
import type { AppEnv } from '../../../../src/server/http/app-env.ts'
import { keptPages } from '../../../../src/server/http/middleware/kept-pages.ts'
import type { Env } from '../../../../src/server/settings/env.ts'
import { openSite } from '../../../../testing/stack/site.ts'

const PAGES = ['/', '/pricing', '/terms_of_service']
/** Makes any request that gets past the kept pages fail. */
const BROKEN = { CLOCK: { fetch: () => Promise.reject(new Error('Not kept')) } } as unknown as Partial<Env>

// Hot reload keeps no pages.
vi.stubEnv('DEV', false)

let sites = 0
/** A new site without kept pages, and the same site when it can answer only with kept ones. */
async function newSite() {
  const SITE_ORIGINS = `http://kept-${++sites}.test`
  return { site: await openSite({ SITE_ORIGINS }), keptOnly: await openSite({ SITE_ORIGINS, ...BROKEN }) }
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

async function told(response: Response) {
  const { 'x-request-id': id, date: _, ...headers } = Object.fromEntries(response.headers)
  return { id, status: response.status, headers, bytes: hashOf(await response.text()) }
}

test.each(PAGES)('%s is answered the second time as the first, header by header', async (path) => {
  const { site, keptOnly } = await newSite()
  const { id: firstId, ...first } = await told(await site.request(path))
  const { id, ...kept } = await told(await keptOnly.request(path))
  expect(first).toMatchObject({ status: 200, headers: { 'x-frame-options': 'DENY' } })
  expect(kept).toEqual(first)
  expect(id).toMatch(/^[0-9a-f-]{36}$/)
  expect(id).not.toBe(firstId)
  const head = await told(await keptOnly.request(path, { method: 'HEAD' }))
  expect(head).toMatchObject({ status: 200, headers: first.headers, bytes: hashOf('') })
})

test.each(PAGES)('%s is the same from the built Worker, each time', async (path) => {
  const ask = async () => told(await fetch(inject('url') + path))
  const { id: _, ...first } = await ask()
  const { id, ...second } = await ask()
  expect(second).toEqual(first)
  expect(id).toMatch(/^[0-9a-f-]{36}$/)
})

test('keeps a page for each theme', async () => {
  const { site, keptOnly } = await newSite()
  const ask = async (where: typeof site, cookie: string) =>
    (await told(await where.request('/', { headers: { Cookie: cookie } }))).bytes
  const [system, light, dark] = ['theme=system', 'theme=light', 'theme=dark']
  const rendered = [await ask(site, system), await ask(site, light), await ask(site, dark)]
  expect(new Set(rendered).size).toBe(3)
  expect([await ask(keptOnly, system), await ask(keptOnly, light), await ask(keptOnly, dark)]).toEqual(rendered)
  for (const none of ['', 'theme=mauve']) expect(await ask(site, none)).toBe(rendered[0])
})

test('on https, only the __Host- cookie counts', async () => {
  const site = await openSite({ SITE_ORIGINS: 'https://kept.test' })
  const ask = async (cookie: string) => (await told(await site.request('/', { headers: { Cookie: cookie } }))).bytes
  const plain = await ask('')
  expect(await ask('theme=light')).toBe(plain)
  expect(await ask('__Host-theme=light')).not.toBe(plain)
  expect(await ask('theme=system; __Host-theme=light')).toBe(await ask('__Host-theme=light'))
})

test('signed-in people, forms, and unknown paths bypass the kept pages', async () => {
  const { site, keptOnly } = await newSite()
  const { cookie } = await site.signInAs('user')
  for (const path of ['/', '/sign_in', '/no-such-page']) await site.request(path)
  expect(await (await site.request('/', { headers: { Cookie: cookie } })).text()).toContain('Sign Out')
  expect((await keptOnly.request('/', { headers: { Cookie: cookie } })).status).toBe(500)
  expect((await keptOnly.request('/', { method: 'POST' })).status).toBe(500)
  for (const path of ['/sign_in', '/no-such-page']) expect((await keptOnly.request(path)).status).toBe(500)
})

test('does not keep a page that sets a cookie', async () => {
  let rendered = 0
  const app = new Hono<AppEnv>().use(keptPages).get('/:cookie', (c) => {
    rendered++
    c.set('sameForAll', 'hello')
    if (c.req.param('cookie') === 'with') c.header('Set-Cookie', 'theme=dark')
    return c.html('hello')
  })
  const env = { SITE_ORIGINS: `http://kept-${++sites}.test` }
  for (const path of ['/with', '/with', '/without', '/without']) await app.request(path, {}, env)
  expect(rendered).toBe(3)
})

test('a program with a token gets no kept page, and leaves none', async () => {
  const { site, keptOnly } = await newSite()
  const headers = { Authorization: 'Bearer pg_any' }
  expect((await site.request('/pricing', { headers })).status).toBe(401)
  expect((await keptOnly.request('/pricing')).status).toBe(500)
  expect((await site.request('/pricing')).status).toBe(200)
  expect((await site.request('/pricing', { headers })).status).toBe(401)
})
